export { type Answer, type Ask, tokenOn, Visitor } from '../../src/devnet/visitor.ts'
