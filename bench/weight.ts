/** What a reader waits for: the bytes of every page with all its files, and when the queue page shows something on a slow line. */
import { request } from 'node:http'
import type { BrowserContext, CDPSession } from 'playwright-core'
import { z } from 'zod'
import { signIn } from '../e2e/support/sign-in.ts'
import { queuePath, startWorld, type World } from '../e2e/support/world.ts'
import { type Figure, limited, median } from './figures.ts'

/** Pages looked at, those of one kind by a few of their kind. */
const MOST_PAGES = 120
const OF_A_KIND = 6
const ROUNDS = 5
/** "Slow 4G" as Lighthouse has it: 150 ms to an answer, 1.6 Mbit/s down, 750 kbit/s up. */
const slow4g = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 }

export async function benchWeight(): Promise<Figure[]> {
  const world = await startWorld()
  try {
    const jar = await signIn(world.browser, world.server.url, world.people.alice)
    const cookie = jar.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const heaviest = [...(await weigh(world, '')), ...(await weigh(world, cookie))].sort((a, b) => b.bytes - a.bytes)
    const [most] = heaviest
    if (most === undefined) throw new Error('no pages')
    const paints = []
    for (let round = 0; round < ROUNDS; round++) paints.push(await paint(world))
    return [
      limited(`heaviest of ${heaviest.length} pages with all its files, compressed (${most.path})`, most.bytes / 1_000, 'kB', 60),
      limited('first contentful paint of the queue page, slow 4G, median', median(paints.map(each => each.firstPaint)), 'ms', 1_000),
      limited('scripts that hold up its rendering', Math.max(...paints.map(each => each.blocking)), '', 0.5),
      limited('layout shift of it, most, with a change while one looks', Math.max(...paints.map(each => each.shift)), '', 0.02),
    ]
  } finally {
    await world.end()
  }
}

interface Weight {
  path: string
  bytes: number
}

/** Every page that links lead to from the first, with the bytes of it and of its files as they come over the line. */
async function weigh(world: World, cookie: string): Promise<Weight[]> {
  const files = new Map<string, number>()
  const weights: Weight[] = []
  const kinds = new Map<string, number>()
  const seen = new Set(['/'])
  for (const path of seen) {
    if (weights.length >= MOST_PAGES) break
    const page = await get(world.url(path), { cookie })
    if (!page.type.startsWith('text/html')) continue
    const { html } = await plain(world.url(path), { cookie })
    let { bytes } = page
    for (const file of new Set([...html.matchAll(/"(\/static\/[^"#]+)/g)].map(([, url = '']) => url))) {
      const size = files.get(file) ?? (await get(world.url(file))).bytes
      files.set(file, size)
      bytes += size
    }
    weights.push({ path, bytes })
    for (const [, href = ''] of html.matchAll(/<a [^>]*?href="(\/[^"#]*)/g)) {
      const to = href.replaceAll('&amp;', '&')
      const kind = to.replace(/\?.*/, '?').replace(/did:[^/]+|[a-z0-9-]+\.test|[0-9a-z:]{13,}|[0-9a-f]{12,}/g, '*')
      const known = kinds.get(kind) ?? 0
      if (seen.has(to) || known >= OF_A_KIND || /^\/(static|xrpc|logout)\b/.test(to)) continue
      kinds.set(kind, known + 1)
      seen.add(to)
    }
  }
  return weights
}

/** The length of an answer as it comes over the line, to a browser. */
function get(url: string, headers: Record<string, string> = {}): Promise<{ bytes: number; type: string }> {
  return new Promise((done, failed) => {
    request(url, { headers: { ...headers, 'accept-encoding': 'gzip, deflate, br, zstd' } }, answer => {
      let bytes = 0
      answer.on('data', (piece: Buffer) => {
        bytes += piece.length
      })
      answer.on('end', () => done({ bytes, type: String(answer.headers['content-type'] ?? '') }))
    })
      .on('error', failed)
      .end()
  })
}

async function plain(url: string, headers: Record<string, string>): Promise<{ html: string }> {
  return { html: await (await fetch(url, { headers })).text() }
}

const seen = z.object({ firstPaint: z.number(), shift: z.number(), blocking: z.number() })

/** The queue page as a new reader on a slow line has it, with a change after it is there. */
async function paint(world: World): Promise<z.output<typeof seen>> {
  const context: BrowserContext = await world.browser.newContext({ viewport: { width: 360, height: 640 } })
  try {
    const page = await context.newPage()
    const line: CDPSession = await context.newCDPSession(page)
    await line.send('Network.enable')
    await line.send('Network.emulateNetworkConditions', slow4g)
    await page.goto(world.url(queuePath), { waitUntil: 'load' })
    await page.waitForTimeout(300)
    const swapped = page.waitForResponse(response => response.url().includes('have='))
    await page.evaluate("document.getElementById('live').dispatchEvent(new Event('changed'))")
    await swapped
    await page.waitForTimeout(500)
    return seen.parse(
      await page.evaluate(`new Promise(done => {
        let shift = 0
        new PerformanceObserver(list => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) shift += entry.value
        }).observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => done({
          firstPaint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
          shift,
          blocking: performance.getEntriesByType('resource').filter(one => one.initiatorType === 'script' && one.renderBlockingStatus === 'blocking').length,
        }), 100)
      })`),
    )
  } finally {
    await context.close()
  }
}
