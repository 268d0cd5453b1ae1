/** Representative models of every page, and the texts that strangers type. */
import type { Frame, PullLine, RepoHead } from '../../src/views/models.ts'

export const now = Date.parse('2026-11-30T14:32:00Z')
const minute = 60_000

export function minutesAgo(minutes: number): number {
  return now - minutes * minute
}

export const alice = { did: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', handle: 'alice.test' }
export const bob = { did: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', handle: 'bob.test' }
export const carol = { did: 'did:plc:cccccccccccccccccccccccc', handle: 'carol.test' }
export const runner = { did: 'did:plc:rrrrrrrrrrrrrrrrrrrrrrrr', handle: 'runner.test' }
/** A handle of 61 letters. */
export const gardener = { did: 'did:plc:gggggggggggggggggggggggg', handle: 'the-very-patient-gardener-of-the-old-north-orchard-wall.test' }
/** An account whose handle does not resolve. */
export const nameless = { did: 'did:web:an-account-without-a-handle.example.com' }

const people = new Map([alice, bob, carol, runner, gardener].map(each => [each.did, each.handle]))

export const commits = {
  tip: '4c1d2e9000000000000000000000000000000000',
  head: '1f00d5a000000000000000000000000000000000',
  batch: '9f31c02000000000000000000000000000000000',
}

/** What strangers type. */
export const hostile = {
  script: '<script>alert(1)</script><img src=x onerror=alert(1)>',
  attribute: '"><b onmouseover="alert(1)" style="position:fixed" hx-get="/x">x</b>',
  turned: 'name\u202egnp.exe \u2066\u2067 \u200f',
  zalgo: `Z${'\u0348\u0352\u0310'.repeat(80)}algo`,
  emoji: '👩‍👩‍👧‍👦'.repeat(40),
  long: 'Ünbroken'.repeat(1250),
  /** As long as a name may be. */
  name: 'Ünbroken-'.repeat(28),
  lines: 'one\r\ntwo\u0000three\u0007\u001b[31mfour\u0085five\ud800six',
  arabic: 'تصحيح ترتيب الأصناف في صفحة البستان',
  entities: '&lt;b&gt; &amp;amp; &#60; {{x}} <%= x %> $ {x} `x`',
  empty: ' \t ',
} as const

export function frame(more: Partial<Frame> = {}): Frame {
  return {
    title: 'Queue (12) · main · alice.test/orchard',
    description: 'Healthy: 7 waiting.',
    viewer: alice,
    csrf: 'token-1',
    now,
    names: did => people.get(did),
    path: '/alice.test/orchard/queue/main',
    version: '0.1.0',
    ...more,
  }
}

export const orchard: RepoHead = {
  uri: `at://${alice.did}/dev.knotless.repo/orchard`,
  owner: alice,
  name: 'orchard',
  defaultBranch: 'main',
  queued: 12,
}

let keys = 0

/** A pull with a key of its own. */
export function pull(title: string, more: Partial<PullLine> = {}): PullLine {
  const author = more.author ?? bob
  const key = `3mb2k${(1_000_000 + keys++).toString(32).padStart(8, '2').replace(/[01]/g, '7').replace(/[89]/g, 'x')}`
  return {
    uri: `at://${author.did}/dev.knotless.pull/${key}`,
    author,
    title,
    branch: 'main',
    draft: false,
    state: 'open',
    createdAt: new Date(minutesAgo(2900)).toISOString(),
    head: { repo: orchard.uri, branch: 'row-labels', commit: commits.head },
    ...more,
  }
}
