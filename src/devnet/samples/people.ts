/** Who wrote the samples' commits, as git has it. */
export const alice = { name: 'Alice', email: 'alice@alice.test' }
export const bob = { name: 'Bob', email: 'bob@bob.test' }
export const carol = { name: 'Carol', email: 'carol@carol.test' }

/** The handles of everybody in the demo: the owner, a collaborator, who opens pulls from a fork, a stranger, and the named runner. */
export const handles = {
  alice: 'alice.test',
  bob: 'bob.test',
  carol: 'carol.test',
  mallory: 'mallory.test',
  runner: 'runner.test',
} as const

export type Person = keyof typeof handles

/** An open pull of a sample. */
export interface SamplePull {
  /** Name of its head branch, which tells the pulls apart. */
  branch: string
  author: Person
  /** True when the branch lies in the author's fork and not in the repository itself. */
  fork: boolean
  title: string
  body: string
}
