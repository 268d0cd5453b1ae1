/** 2,000 open pages and a change each second: from a record written on the PDS to what all of them, and a real browser among them, show. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { chromium, type Page } from 'playwright-core'
import { z } from 'zod'
import type { DevAccount } from '../src/devnet/account.ts'
import { type Network, startNetwork } from '../src/devnet/network.ts'
import { freePort } from '../src/devnet/ports.ts'
import { tidAt } from '../src/queue/tid.ts'
import { type Figure, limited, quantile } from './figures.ts'
import { startChild } from './gateway/children.ts'
import { commitOf } from './made-up.ts'
import { type Program, run } from './processes.ts'

const WATCHERS = 2_000
const CHANGES = 40
/** Queued before the first change. */
const QUEUED = 10

const watched = z.object({ read: z.array(z.tuple([z.number(), z.array(z.number())])), answers: z.number(), bytes: z.number() })
const shownRows = z.array(z.tuple([z.number(), z.number()]))

export async function benchLive(): Promise<Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-bench-'))
  const network = await startNetwork()
  let server: Program | undefined
  try {
    const garden = await plant(network)
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    server = await serve(network, { dir, port })
    const path = await pathOf(origin, garden)
    const browser = await chromium.launch({ executablePath: process.env.KNOTLESS_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
    try {
      const page = await browser.newPage()
      await page.goto(origin + path)
      await watchNews(page)
      const watchers = await startChild('../live/watchers.ts', [JSON.stringify({ host: '127.0.0.1', port, path, watchers: WATCHERS })])
      try {
        const others = await chatter(network)
        await garden.queue()
        await wait(3_000)
        const began = { cpu: server.cpuMs(), at: performance.now(), ...watched.parse((await watchers.ask({})).figures) }
        const written = await change(garden)
        await wait(3_000)
        await others.stop()
        const cpu = server.cpuMs() - began.cpu
        const share = cpu / (performance.now() - began.at)
        const { read, answers, bytes } = watched.parse((await watchers.ask({})).figures)
        const asked = answers - began.answers
        const took = tookOf(written, read)
        const inPage = tookOf(
          written,
          shownRows.parse(await page.evaluate('shownRows')).map(([row, at]) => [row, [at]]),
        )
        return [
          limited('record written on the PDS → read by a watcher, p50 of 2,000', quantile(took, 0.5), 'ms', 300),
          limited('the same, p99', quantile(took, 0.99), 'ms', 1_000),
          limited('record written on the PDS → shown in a browser, p50', quantile(inPage, 0.5), 'ms', 300),
          limited('the same, slowest', Math.max(...inPage), 'ms', 1_000),
          limited('changes that a watcher was not shown by itself, in a hundred', missed(written, read), '%', 1),
          limited('memory of the server, at most', server.memory().most, 'MiB', 400),
          limited('CPU of the server, of one core', share * 100, '%', 100),
          limited('CPU of the server for 2,000 told and answered', (cpu / asked) * WATCHERS, 'ms', 500),
          limited('what a watcher gets for a change', (bytes - began.bytes) / asked / 1_000, 'kB', 10),
        ]
      } finally {
        await watchers.stop()
      }
    } finally {
      await browser.close()
    }
  } finally {
    await server?.stop()
    await network.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

const clock = () => performance.timeOrigin + performance.now()

/** When each row was written, a second after the one before. */
async function change(garden: Garden): Promise<Map<number, number>> {
  const written = new Map<number, number>()
  for (let n = 0; n < CHANGES; n++) {
    const started = performance.now()
    const row = await garden.queue()
    written.set(row, clock())
    await wait(Math.max(0, 1_000 - (performance.now() - started)))
  }
  return written
}

/**
 * Another account of the same PDS that writes ten times a second. The reference PDS looks for new events after 2, 4, 8 … 512 ms without any, so that on
 * one where nobody else writes a record waits for its stream up to half a second.
 */
async function chatter(network: Network): Promise<{ stop(): Promise<void> }> {
  const other = await network.createAccount('chatter.test')
  const stopped = new AbortController()
  const writing = (async () => {
    for (let n = 0; !stopped.signal.aborted; n++) {
      await other.create('com.example.note', { text: `note ${n}`, createdAt: new Date().toISOString() })
      await wait(100)
    }
  })()
  return {
    async stop() {
      stopped.abort()
      await writing
    },
  }
}

type Read = readonly (readonly [row: number, at: readonly number[]])[]

/** Milliseconds from each row's writing to each time that it was read. */
function tookOf(written: ReadonlyMap<number, number>, read: Read): number[] {
  return read.flatMap(([row, times]) => {
    const at = written.get(row)
    return at === undefined ? [] : times.map(time => Math.max(0, time - at))
  })
}

/** Changes that a watcher saw only together with a later one. */
function missed(written: ReadonlyMap<number, number>, read: Read): number {
  const seen = read.filter(([row]) => written.has(row)).reduce((sum, [, times]) => sum + Math.min(WATCHERS, times.length), 0)
  return 100 * (1 - seen / (written.size * WATCHERS))
}

/** Notes in the page when its news first says each row. */
async function watchNews(page: Page): Promise<void> {
  await page.evaluate(`
    window.shownRows = []
    new MutationObserver(() => {
      const row = Number(/Row (\\d+)/.exec(document.getElementById('news').textContent)?.[1])
      if (row && shownRows.at(-1)?.[0] !== row) shownRows.push([row, performance.timeOrigin + performance.now()])
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`)
}

interface Garden {
  owner: DevAccount
  /** Queues the next pull; gives its row. */
  queue(): Promise<number>
}

/** A repository with enough pulls, the first of them queued. */
async function plant(network: Network): Promise<Garden> {
  const owner = await network.createAccount('grower.test')
  const repo = `at://${owner.did}/dev.knotless.repo/plot`
  const createdAt = new Date().toISOString()
  const tip = commitOf('tip')
  await owner.create('dev.knotless.repo', { defaultBranch: 'main', collaborators: [], runners: [], createdAt }, 'plot')
  const rows = QUEUED + CHANGES + 2
  const branches = Array.from({ length: rows }, (_, n) => ({ name: `refs/heads/row-${n}`, commit: commitOf(`row ${n}`), generation: 1 }))
  const refs = [{ name: 'refs/heads/main', commit: tip, generation: 1 }, ...branches]
  await owner.create('dev.knotless.refs', { repo, refs, packs: [], updatedAt: createdAt }, 'plot')
  let last = Date.now() - 60_000
  const key = () => {
    last = Math.max(last + 1, Date.now())
    return tidAt(last)
  }
  const pulls: string[] = []
  for (let n = 0; n < rows; n++) {
    const rkey = key()
    const head = { repo, branch: `row-${n}` }
    await owner.create('dev.knotless.pull', { repo, branch: 'main', head, title: `Row ${n} of pears`, createdAt }, rkey)
    pulls.push(`at://${owner.did}/dev.knotless.pull/${rkey}`)
  }
  let next = 0
  const queue = async () => {
    const row = next++
    const record = { repo, subject: pulls[row], state: 'queued', head: commitOf(`row ${row}`), branch: 'main', createdAt }
    await owner.create('dev.knotless.queue', record, key())
    return row
  }
  for (let n = 0; n < QUEUED; n++) await queue()
  return { owner, queue }
}

async function serve(network: Network, { dir, port }: { dir: string; port: number }): Promise<Program> {
  const origin = `http://127.0.0.1:${port}`
  const env = {
    KNOTLESS_PUBLIC_URL: origin,
    PORT: String(port),
    KNOTLESS_DB: join(dir, 'index.sqlite'),
    KNOTLESS_DATA: dir,
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_RELAY: network.relayUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
    KNOTLESS_SECRET: 'a secret for benchmarks, of 32 letters or more',
    KNOTLESS_RATE_LIMIT: '100000000',
    KNOTLESS_STREAMS: '100000',
    KNOTLESS_LOG: 'silent',
  }
  return await run(['src/cli/main.ts', 'serve'], env, `${origin}/healthz`)
}

/** The queue's page, once the server has read of all that is queued. */
async function pathOf(origin: string, { owner }: Garden): Promise<string> {
  const path = `/${owner.did}/plot/queue/main`
  const until = Date.now() + 60_000
  while (Date.now() < until) {
    const answer = await fetch(origin + path)
    const text = await answer.text()
    if (answer.ok && text.includes(`Row ${QUEUED - 1} of pears`)) return path
    await wait(100)
  }
  throw new Error('the server does not show what is queued')
}
