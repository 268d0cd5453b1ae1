export { findTestEngine as testEngine, type OwnEngine, startOwnEngine, type TestEngine } from '../../scripts/engine.ts'

/** Why a test is skipped: `test(name, { skip: engine === undefined && noEngine }, …)`. Who asks for an engine closes it, after all that use it. */
export const noEngine = 'no container engine'
