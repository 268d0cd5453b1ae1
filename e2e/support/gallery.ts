/** The gallery of the merge box as browser tests look at it: the real server over it, and whoever looks logged in. */
import type { Browser } from 'playwright-core'
import { type Gallery, putUpGallery } from '../../src/devnet/gallery/gallery.ts'
import type { Looker } from '../../src/devnet/gallery/scene.ts'
import { logIn } from '../../src/devnet/log-in.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { seedPeople } from '../../src/devnet/seed.ts'
import { Visitor } from '../../src/devnet/visitor.ts'
import { type Served, serve } from '../../test/server/serve.ts'
import { openTab, type Tab } from './tab.ts'
import { launch } from './world.ts'

export interface GalleryWorld extends Gallery {
  readonly network: Network
  readonly server: Served
  /** A tab of whoever looks, on a phone, the same each time. */
  tabOf(looker: Looker): Promise<Tab>
  end(): Promise<void>
}

/** Starts all of it; what had started is stopped again when a later part fails. */
export async function startGallery(): Promise<GalleryWorld> {
  const stops: (() => Promise<void>)[] = []
  const end = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  try {
    const network = await startNetwork()
    stops.push(() => network.stop())
    const gallery = await putUpGallery(network, await seedPeople(network))
    const server = await serve(network, { env: { KNOTLESS_RELAY: network.relayUrl } })
    stops.push(() => server.end())
    const browser = await launch()
    stops.push(() => browser.close())
    const isRead = await gallery.bringToLife({ url: server.url, did: server.context.config.did })
    if (!isRead) throw new Error('the gallery is not read')
    const tabs = new Map<Looker, Promise<Tab>>()
    return {
      ...gallery,
      network,
      server,
      end,
      tabOf(looker) {
        const tab = tabs.get(looker) ?? open(browser, server.url, looker === 'nobody' ? undefined : gallery.cast[looker])
        tabs.set(looker, tab)
        return tab
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}

/** Logged in by the requests of a browser without scripts, which take a fraction of the time. */
async function open(browser: Browser, url: string, account: Parameters<typeof logIn>[2] | undefined): Promise<Tab> {
  const visitor = new Visitor()
  if (account !== undefined) await logIn(visitor, url, account)
  const cookies = [...visitor.cookies(url)].map(([name, value]) => ({
    name,
    value,
    domain: new URL(url).hostname,
    path: '/',
    expires: -1,
    httpOnly: true,
    secure: false,
    sameSite: 'Lax' as const,
  }))
  return openTab(browser, url, { viewport: { width: 360, height: 800 }, timezoneId: 'UTC', storageState: { cookies, origins: [] } })
}
