import { openEngine } from '../../runner/executor/engine.ts'
import { findEngine } from '../../runner/executor/probe.ts'

/** Where the samples' checks run. `image`: a container's, for workflows that name none. */
export type ChosenExecutor =
  | { kind: 'docker'; image?: string | undefined }
  /** `why`: that nothing else is there, for the notice; absent where it was asked for. */
  | { kind: 'host'; why?: 'no-engine' | 'no-image' | undefined }

/** Images in which the samples' scripts can run, the smallest first. They need a shell, tar and awk. */
const fitting = [/^(.*\/)?alpine:/, /^(.*\/)?busybox:/, /^(.*\/)?debian:/, /^(.*\/)?ubuntu:/, /^(.*\/)?node:/]
/** What is fetched where an engine was asked for and has none of them. */
const usual = 'docker.io/library/alpine:3'

/**
 * The executor that was asked for; else the container engine that answers, where it has an image already in which the samples can run: the demo
 * fetches nothing unasked. Else this machine itself.
 */
export async function chooseExecutor(
  asked: 'docker' | 'host' | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ChosenExecutor> {
  if (asked === 'host') return { kind: 'host' }
  const engine = await findEngine({ env })
  if (!engine.ok) return asked === 'docker' ? { kind: 'docker', image: usual } : { kind: 'host', why: 'no-engine' }
  const image = await imageOf(engine.socketPath)
  if (asked === 'docker') return { kind: 'docker', image: image ?? usual }
  return image === undefined ? { kind: 'host', why: 'no-image' } : { kind: 'docker', image }
}

async function imageOf(socketPath: string): Promise<string | undefined> {
  try {
    const tags = (await openEngine(socketPath).listImages()).flatMap(image => image.RepoTags ?? [])
    return fitting.map(name => tags.find(tag => name.test(tag))).find(tag => tag !== undefined)
  } catch {
    return undefined
  }
}
