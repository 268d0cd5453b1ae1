/** From `npm start`, everything installed, to a queue page that answers. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { type Figure, limited } from './figures.ts'

const network = z.object({ server: z.url() })

export async function benchStart(): Promise<Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-bench-'))
  const ready = join(dir, 'ready')
  const args = ['start', '--', '--data', join(dir, 'demo'), '--port', '0', '--ready-file', ready]
  const started = performance.now()
  const child = spawn('npm', args, { cwd: join(import.meta.dirname, '..'), stdio: 'ignore', detached: true })
  const ended = new Promise<void>(done => child.once('exit', () => done()))
  try {
    while (!existsSync(ready) && performance.now() - started < 120_000 && child.exitCode === null) await wait(20)
    const { server } = network.parse(JSON.parse(readFileSync(join(dir, 'demo', 'network.json'), 'utf8')))
    const answer = await fetch(`${server}/alice.test/orchard/queue/main`)
    if (!answer.ok) throw new Error(`the queue page answers ${answer.status}`)
    return [limited('npm start to the queue page', (performance.now() - started) / 1000, 's', 15)]
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    await ended
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  }
}
