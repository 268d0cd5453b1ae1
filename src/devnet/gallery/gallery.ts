/** A local network on which every state of the merge box stands, each by records as people, runners and stewards write them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { DevAccount } from '../account.ts'
import { giveDelegation, takeDelegation } from '../give-delegation.ts'
import type { Network } from '../network.ts'
import type { People } from '../seed.ts'
import { allRead } from './all-read.ts'
import { ejections } from './ejections.ts'
import { garden } from './garden.ts'
import { galleryHistory } from './history.ts'
import { others } from './others.ts'
import { createPen } from './pen.ts'
import { queues } from './queues.ts'
import { groups, type Repo, type Scene } from './scene.ts'
import type { Cast, Making } from './world.ts'

const MINUTE = 60_000
/** How long a pass holds, in milliseconds: it is told again before that. */
export const REPORT_EVERY = MINUTE

/** All states, and whoever looks at them. */
export interface Gallery {
  readonly scenes: readonly Scene[]
  readonly cast: Cast
  /**
   * Once the server runs: waits until it knows every pull, gives it the rights that owners give, takes back what one of them takes back, and tells of
   * every lander's pass. False where it does not know all in time.
   */
  bringToLife(server: { url: string; did: string }): Promise<boolean>
  /** Tells of every lander's pass again. */
  report(server: { url: string; did: string }): Promise<void>
}

/**
 * Writes all of it. What it tells of lies minutes and days back, so it is to be written before a server first reads the network: what is seen late
 * on the stream is shown as backdated (REC-9). `password` chooses those of the accounts that the demo does not have.
 */
export async function putUpGallery(
  network: Network,
  people: People,
  options: { now?: number; password?: (name: string) => string } = {},
): Promise<Gallery> {
  const account = async (name: string): Promise<DevAccount> =>
    network.account(`${name}.test`) ?? (await network.createAccount(`${name}.test`, options.password?.(name)))
  const [ivy, dave, erin, hugo] = [await account('ivy'), await account('dave'), await account('erin'), await account('hugo')]
  const cast: Cast = { ...people, ivy, dave, erin, hugo }
  const scratch = mkdtempSync(join(tmpdir(), 'knotless-gallery-'))
  try {
    const history = await galleryHistory(join(scratch, 'history.git'))
    const handles = new Map(Object.values(cast).map(({ did, handle }) => [did, handle]))
    const pen = createPen({ history, now: options.now ?? Date.now(), names: did => handles.get(did) })
    const parts = [garden, queues, ejections, others].map(put => ({ put, making: createMaking(cast, pen, history) }))
    await Promise.all(parts.map(({ put, making }) => put(making)))
    await network.settled()
    network.age(60_000)
    const scenes = parts.flatMap(({ making }) => making.scenes).sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group))
    const passes = parts.flatMap(({ making }) => making.passes)
    network.faults.add({ fault: 'refuse', account: hugo.did })
    network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.createRecord', account: ivy.did })
    const report = (server: { url: string; did: string }) => reportAll(passes, server)
    return {
      scenes,
      cast,
      report,
      async bringToLife(server) {
        const [isRead] = await Promise.all([
          allRead(scenes, server.url),
          giveDelegation(server.url, cast.alice),
          giveDelegation(server.url, erin).then(() => takeDelegation(server.url, erin)),
        ])
        await report(server)
        return isRead
      },
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function createMaking(cast: Cast, pen: Making['pen'], history: Making['history']): Making {
  const scenes: Scene[] = []
  const heads = new Map<string, number>()
  /** The next plain head of a repository; they begin again where they end. */
  const plainHead = (repo: Repo) => {
    const at = heads.get(repo.uri) ?? 0
    heads.set(repo.uri, at + 1)
    return `topic-${(at % 15) + 1}`
  }
  const titles = new Map<string, string>()
  return {
    cast,
    pen,
    history,
    scenes,
    passes: [],
    show: (id, group, pull, { as = 'bob', title = titles.get(pull.uri) ?? id, ...more } = {}) => {
      if (scenes.some(scene => scene.id === id)) throw new Error(`two scenes are called ${id}`)
      scenes.push({ id, group, title, pull: pull.uri, repo: pull.repo, as, ...more })
    },
    async open(repo, title, { head = plainHead(repo), by = cast.carol, ...more } = {}) {
      const pull = await pen.pull(repo, by, title, head, more)
      titles.set(pull.uri, title)
      return pull
    },
    async turnAway(pull, why, kind, more = {}) {
      const entry = await pen.queue(cast.bob, pull, 'queued', 90)
      return (await pen.ejected(cast.runner, pull, why, 52, { kind, ends: entry.uri, ...more })).uri
    },
  }
}

async function reportAll(passes: Making['passes'], server: { url: string; did: string }): Promise<void> {
  const lxm = 'dev.knotless.reportPass'
  const tell = async ({ repo, by }: Making['passes'][number]) => {
    const answer = await by.call('com.atproto.server.getServiceAuth', { params: { aud: server.did, lxm } })
    const { token } = z.object({ token: z.string() }).parse(answer)
    const at = Date.now()
    const body = { repo: repo.uri, passedAt: new Date(at).toISOString(), nextBy: new Date(at + 2 * REPORT_EVERY).toISOString() }
    const told = await fetch(`${server.url}/xrpc/${lxm}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })
    if (!told.ok) throw new Error(`the pass over ${repo.name} was not taken: ${await told.text()}`)
  }
  await Promise.all(passes.map(tell))
}
