import type Docker from 'dockerode'
import { z } from 'zod'
import { answered, faultOf, saidOf, statusOf } from './engine.ts'

export type ImageFound =
  | { ok: true; id: string }
  /** `missing`: nobody has it, which is a verdict (CHK-7); `unfetched`: its registry did not answer, or not as it should. */
  | { ok: false; why: 'missing' | 'unfetched' | 'lost' | 'disk'; said: string }

/** Images of an engine, fetched where they are not there. One fetch of an image at a time. */
export interface Images {
  /** Settled early when the signal is aborted, as `unfetched`. */
  find(name: string, signal: AbortSignal): Promise<ImageFound>
}

/** `pull`: `never` takes what the engine has alone. A fetch may take `pullMs` milliseconds. */
export function createImages(engine: Docker, options: { pull: 'missing' | 'never'; pullMs: number }): Images {
  const fetching = new Map<string, Promise<ImageFound>>()

  async function look(name: string): Promise<ImageFound> {
    try {
      const { Id } = await answered(engine.getImage(name).inspect())
      return { ok: true, id: Id }
    } catch (error) {
      return failed(error)
    }
  }

  async function fetch(name: string): Promise<ImageFound> {
    const full = fullName(name)
    try {
      const stream = await answered(engine.pull(full), options.pullMs)
      await answered(fetched(engine, stream), options.pullMs)
    } catch (error) {
      const found = failed(error)
      return found.ok || found.why !== 'missing' ? found : { ...found, why: saysMissing(found.said) ? 'missing' : 'unfetched' }
    }
    return look(full)
  }

  return {
    async find(name, signal) {
      const there = await look(name)
      if (there.ok || there.why !== 'missing' || options.pull === 'never') return there
      // Who gives up does not end the fetch for those who wait for the same image.
      const one = fetching.get(name) ?? fetch(name).finally(() => fetching.delete(name))
      fetching.set(name, one)
      const givenUp = Promise.withResolvers<ImageFound>()
      const giveUp = () => givenUp.resolve({ ok: false, why: 'unfetched', said: 'given up' })
      signal.addEventListener('abort', giveUp, { once: true })
      if (signal.aborted) giveUp()
      return Promise.race([one, givenUp.promise]).finally(() => signal.removeEventListener('abort', giveUp))
    },
  }
}

/**
 * A name as registries take it: Podman guesses none for short names, and Docker's guess is Docker Hub. `node:24` is
 * `docker.io/library/node:24`, `me/tool` is `docker.io/me/tool:latest`.
 */
export function fullName(name: string): string {
  const [first = '', ...rest] = name.split('/')
  const host = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const path = host ? name : rest.length === 0 ? `docker.io/library/${name}` : `docker.io/${name}`
  return /[:@]/.test(path.slice(path.lastIndexOf('/'))) ? path : `${path}:latest`
}

const pulledEvents = z.array(z.unknown())
const pullError = z.object({ error: z.string() })

/** Settled when a fetch has ended. Rejects with what went wrong: some engines say it as one more event. */
function fetched(engine: Docker, stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((done, fail) => {
    engine.modem.followProgress(stream, (error, events: unknown) => {
      if (error !== null) return fail(error)
      for (const event of pulledEvents.safeParse(events).data ?? []) {
        const said = pullError.safeParse(event).data?.error
        if (said !== undefined) return fail(new Error(said))
      }
      done()
    })
  })
}

function failed(error: unknown): ImageFound {
  const said = error instanceof Error ? error.message : String(error)
  const fault = faultOf(error)
  if (fault === 'lost' || fault === 'disk') return { ok: false, why: fault, said: saidOf(error) }
  // A name that cannot be one is nobody's.
  if (fault === 'missing' || statusOf(error) === 400 || saysMissing(said)) return { ok: false, why: 'missing', said }
  return { ok: false, why: 'unfetched', said }
}

function saysMissing(said: string): boolean {
  return /manifest unknown|name unknown|no such image|repository does not exist|not found|does not exist|access to the resource is denied|invalid reference/i.test(
    said,
  )
}
