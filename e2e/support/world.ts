/** What a browser test stands on: a local network with the sample repositories, the real server over it, and a real browser. */
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'
import type { DevAccount } from '../../src/devnet/account.ts'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import type { Person } from '../../src/devnet/samples/people.ts'
import { type People, type Samples, type SeededPull, seedPeople, seedSamples } from '../../src/devnet/seed.ts'
import { ignoredCounts } from '../../src/indexer/read.ts'
import type { Overrides } from '../../src/server/context.ts'
import { type Served, serve } from '../../test/server/serve.ts'
import { until } from '../../test/support/until.ts'
import { type CookieJar, signIn } from './sign-in.ts'
import { openTab, type Tab } from './tab.ts'

/** How a tab is opened; phone or desktop, light or dark, with or without scripts, in whichever time zone, as somebody or signed out. */
export interface TabOptions extends Pick<BrowserContextOptions, 'javaScriptEnabled' | 'colorScheme' | 'viewport' | 'timezoneId'> {
  as?: Person
}

export interface World {
  readonly network: Network
  readonly people: People
  readonly samples: Samples
  readonly server: Served
  readonly browser: Browser
  /** Address of a path on the server. */
  url(path: string): string
  /** A pull of the orchard, by its branch. */
  pull(branch: string): SeededPull
  /** Path of a pull's page. */
  pathOf(pull: { uri: string; author: Person }, repo?: 'orchard' | 'almanac'): string
  /** A new tab in a browser of its own. Whoever it is opened as was signed in once, through the account server's own page. */
  open(options?: TabOptions): Promise<Tab>
  /** Forgets that somebody was signed in: the next tab that is opened as them is signed in anew. */
  forget(person: Person): void
  /** Settles when everything written on the network is in the index and nothing is left to be done. */
  settled(): Promise<void>
  end(): Promise<void>
}

/** Path of the orchard's queue. */
export const queuePath = '/alice.test/orchard/queue/main'

/**
 * Starts a world, in which alice lets the server write for her unless `delegated` is false; what had started is stopped again when a later part
 * fails.
 */
export async function startWorld({ delegated = true, ...options }: { overrides?: Overrides; delegated?: boolean } = {}): Promise<World> {
  const stops: (() => Promise<void>)[] = []
  const end = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  try {
    const network = await startNetwork()
    stops.push(() => network.stop())
    const people = await seedPeople(network)
    const samples = await seedSamples(network, people)
    const server = await serve(network, { env: { KNOTLESS_RELAY: network.relayUrl }, ...options })
    stops.push(() => server.end())
    if (delegated) await giveDelegation(server.url, people.alice)
    const browser = await launch()
    stops.push(() => browser.close())
    const world = buildWorld({ network, people, samples, server, browser, end })
    await world.settled()
    return world
  } catch (error) {
    await end()
    throw error
  }
}

/** A real Chromium, headless. */
export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.KNOTLESS_CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
    ],
  })
}

function buildWorld(parts: Pick<World, 'network' | 'people' | 'samples' | 'server' | 'browser' | 'end'>): World {
  const { network, people, samples, server, browser } = parts
  const jars = new Map<Person, Promise<CookieJar>>()
  const cookiesOf = (person: Person) => {
    const jar = jars.get(person) ?? signIn(browser, server.url, people[person])
    jars.set(person, jar)
    return jar
  }
  return {
    ...parts,
    url: path => new URL(path, server.url).href,
    pull(branch) {
      const found = samples.orchard.pulls[branch]
      if (found === undefined) throw new Error(`the orchard has no pull ${branch}`)
      return found
    },
    pathOf: ({ uri, author }, repo = 'orchard') =>
      `/alice.test/${repo}/pulls/${people[author].handle}/${uri.slice(uri.lastIndexOf('/') + 1)}`,
    async open({ as, ...context } = {}) {
      const storageState = as === undefined ? undefined : await cookiesOf(as)
      return openTab(browser, server.url, { ...context, ...(storageState === undefined ? {} : { storageState }) })
    },
    forget: person => void jars.delete(person),
    async settled() {
      await network.settled()
      await seen(network, server)
      await server.context.indexer.settled()
    },
  }
}

/**
 * Waits until the server has read the stream up to now: a record of a collection that nobody knows is written, and once it was passed over all
 * that was written before it had its turn.
 */
async function seen(network: Network, server: Served): Promise<void> {
  const marker: DevAccount = network.account('marker.test') ?? (await network.createAccount('marker.test'))
  const count = () => ignoredCounts(server.context.database).get('unknown-collection') ?? 0
  const before = count()
  await marker.create('dev.knotless.marker', { at: new Date().toISOString() })
  await until(() => count() > before, { timeout: 30_000, what: 'the server to read the stream up to its end' })
}
