/** What every part of a runner takes, and the parts themselves, before anything goes on. */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { type AtUri, parseTid } from '../atproto/ids.ts'
import { createReader } from '../atproto/reader.ts'
import { createTidClock } from '../atproto/tid.ts'
import { createWriter } from '../atproto/writer.ts'
import { readVersion } from '../config/version.ts'
import { createMirrors } from '../git/mirror.ts'
import { gitVersion } from '../git/version.ts'
import { createAppview } from './appview.ts'
import type { RunnerConfig } from './config.ts'
import type { RunnerContext, RunnerSettings } from './context.ts'
import { createLiveLogs, type LiveLogs } from './live-logs.ts'
import { createLog } from './log.ts'
import { createNames } from './names.ts'
import { createParts, type MadeParts } from './parts.ts'
import type { Found } from './start.ts'

export interface OpenedRunner {
  ok: true
  ctx: RunnerContext
  made: MadeParts
  live: LiveLogs
  /** Closes all of it, with what was found for it. */
  close(): Promise<void>
}

/** Puts a runner's parts together. `write` takes the lines of its log. The fault is one line for whoever started it. */
export async function openRunner(
  config: RunnerConfig,
  found: Found,
  { ring, write }: { ring: (repo: AtUri, why: string) => void; write: (line: string) => void },
): Promise<OpenedRunner | { ok: false; fault: string }> {
  const git = await gitVersion()
  if (!git.ok) return { ok: false, fault: git.message }
  const settings = settingsOf(config, found)
  const now = Date.now
  const form = config['--log'] ?? (settings.once || settings.dryRun ? 'json' : 'text')
  const log = createLog({ form, now, write })
  const reader = createReader({ identity: found.identity, fetch: found.fetch, now })
  const writer = createWriter({ session: found.session, now })
  const keys = createTidClock({ now, clockId: randomInt(1024) })
  const names = createNames(found.identity)
  const ctx: RunnerContext = {
    did: found.did,
    session: found.session,
    writer,
    reader,
    identity: found.identity,
    appview: createAppview({ url: found.appviewUrl, fetch: globalThis.fetch, writer, now, log }),
    mirrors: createMirrors(join(found.folder.path, 'mirrors')),
    now,
    nextKey: above => keys.next(parseTid(above)),
    instance: found.folder.instance,
    version: readVersion(),
    git: git.version,
    settings,
    log,
    names: names.of,
  }
  const live = createLiveLogs()
  const made = await createParts(ctx, { config, found, names, ring, live })
  if (!made.ok) return made
  return {
    ok: true,
    ctx,
    made,
    live,
    async close() {
      await made.close()
      await made.executor.close()
      found.fetch.close()
      found.folder.release()
    },
  }
}

function settingsOf(config: RunnerConfig, found: Found): RunnerSettings {
  return {
    repos: found.repos,
    queue: config['--queue'],
    pulls: config['--pulls'],
    batch: config['--batch'],
    depth: config['--depth'],
    waitMs: config['--wait'],
    noticeMs: config['--notice'],
    sweepMs: config['--sweep'],
    jobs: config['--jobs'],
    timeoutMs: config['--timeout'],
    executor: config['--executor'],
    allowNetwork: config['--allow-network'],
    once: config['--once'] || config['--dry-run'],
    dryRun: config['--dry-run'],
  }
}
