/** What checks say of themselves: summaries, causes and the lines that a runner adds to a log. Sentences of what a run itself did are in `run.ts`. */
export const checkWords = {
  skipped: () => 'Not needed: none of its paths changed.',
  reused: () => 'Passed before on the same files; that pass was taken over.',
  /** MOV-4: stands in the log and in the summary of every run that a dropped batch cancels. */
  dropped: () => 'cancelled as the merge queue dropped its batch',
  cancelled: () => 'cancelled',
  superseded: () => 'a newer commit is checked instead',
  /** MOV-6. */
  restarted: () => 'The runner stopped before this ended.',
  executorLost: () => 'The runner lost sight of this run.',
  secretMissing: (name: string) => `The secret ${name} is asked for, and the runner has none of that name.`,
  /** Why nothing was filed. */
  stopping: () => 'the runner stops',
  cannotBeFiled: (workflow: string) => `a check of ${workflow} cannot be filed`,
} as const
