/** Who and what the samples are about. */
import { did } from '../made-up.ts'

export const NOW = Date.UTC(2026, 10, 30, 14, 32)
export const MINUTE = 60_000
export const earlier = (minutes: number) => NOW - minutes * MINUTE

export const alice = did('alice')
export const bob = did('bob')
export const carol = did('carol')
export const runner = did('runner')
const handles = new Map([
  [alice, 'alice.test'],
  [bob, 'bob.test'],
  [carol, 'carol.test'],
  [runner, 'runner.test'],
])
export const names = (account: string) => [...handles].find(([known]) => known === account)?.[1]

export const tip = 'a1'.repeat(20)
export const head = 'b2'.repeat(20)
export const base = 'c3'.repeat(20)
export const branch = 'main'
export const people = [alice, bob, carol]
export const repo = { owner: alice, name: 'orchard' }
export const title = { title: 'Draw espaliers along a wire', pull: `at://${bob}/dev.knotless.pull/3mb2kvjr3m22x` }

export type Samples<K extends PropertyKey, T> = { [P in K]: readonly T[] }
