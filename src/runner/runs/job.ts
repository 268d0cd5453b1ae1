/** A run as an executor is to make it. */
import type { AtUri } from '../../atproto/ids.ts'
import { digest } from '../../workflows/check-keys.ts'
import type { Workflow } from '../../workflows/workflow.ts'
import type { Job, JobClass, Subject } from '../types.ts'

export interface JobAsked {
  id: string
  repo: AtUri
  subject: Subject
  workflow: Workflow
  trusted: boolean
  gitDir: string
  class: JobClass
  /** The runner's longest, in milliseconds. */
  timeoutMs: number
  /** The repository's secrets, by name. */
  secrets: Readonly<Record<string, string>>
}

/** All of a job but what connects it to its run. */
export function jobOf(asked: JobAsked): Omit<Job, 'onOutput' | 'signal'> {
  const { id, repo, subject, workflow, trusted, gitDir } = asked
  return {
    id,
    workflow,
    source: { gitDir, commit: commitOf(subject) },
    env: envOf(repo, subject, workflow),
    secrets: secretsOf(subject, workflow, asked.secrets),
    timeoutMs: Math.min(workflow.timeout ?? asked.timeoutMs, asked.timeoutMs),
    weight: asked.class === 'next' || asked.class === 'push' ? 'high' : 'low',
    cache: { key: digest(`${repo}\nrefs/heads/${subject.branch}`), use: cacheUse(subject, workflow, trusted) },
  }
}

/** Names of secrets that a push's workflow asks for and that the repository has none of here. */
export function secretsMissing(subject: Subject, workflow: Workflow, secrets: Readonly<Record<string, string>>): string[] {
  return subject.of === 'push' ? workflow.secrets.filter(name => !Object.hasOwn(secrets, name)) : []
}

/** A pull has no commit of its own merge: its tree is what is checked. */
function commitOf(subject: Subject): string {
  switch (subject.of) {
    case 'batch':
      return subject.tip
    case 'pull':
      return subject.tree
    case 'push':
      return subject.commit
  }
}

/** CHK-1, PRE-7: whatever it asks for, the code of a pull gets none. */
function secretsOf(subject: Subject, workflow: Workflow, secrets: Readonly<Record<string, string>>): Record<string, string> {
  if (subject.of !== 'push') return {}
  return Object.fromEntries(
    workflow.secrets.flatMap(name => {
      const value = Object.hasOwn(secrets, name) ? secrets[name] : undefined
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/**
 * CHK-2. Nothing but a push to the default branch promotes. A pull's own runs never write into the branch's cache: its head was looked at by nobody.
 */
function cacheUse(subject: Subject, workflow: Workflow, trusted: boolean): Job['cache']['use'] {
  if (subject.of === 'push') return subject.isDefault ? 'promote' : 'share'
  if (trusted) return subject.of === 'batch' ? 'share' : 'layer'
  return workflow.secrets.length > 0 ? 'empty' : 'layer'
}

function envOf(repo: AtUri, subject: Subject, workflow: Workflow): Record<string, string> {
  const env: Record<string, string> = {
    CI: 'true',
    KNOTLESS: 'true',
    KNOTLESS_REPO: repo,
    KNOTLESS_BRANCH: subject.branch,
    KNOTLESS_WORKFLOW: workflow.name,
    KNOTLESS_EVENT: subject.of,
    KNOTLESS_TREE: subject.tree,
  }
  switch (subject.of) {
    case 'batch':
      return {
        ...env,
        KNOTLESS_COMMIT: subject.tip,
        KNOTLESS_BASE: subject.base,
        KNOTLESS_PULLS: subject.members.map(({ pull }) => pull).join(' '),
      }
    case 'pull':
      return { ...env, KNOTLESS_COMMIT: subject.head, KNOTLESS_BASE: subject.tip, KNOTLESS_PULL: subject.pull }
    case 'push':
      return { ...env, KNOTLESS_COMMIT: subject.commit, ...(subject.before === undefined ? {} : { KNOTLESS_BASE: subject.before }) }
  }
}
