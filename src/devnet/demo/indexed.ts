import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { Samples, SeededRepo } from '../seed.ts'

const patienceMs = 20_000
const answer = z.object({ pulls: z.array(z.unknown()) })

/** Waits until the server shows the sample repositories with all the pulls they were made with. False when it does not within 20 s. */
export async function samplesIndexed(serverUrl: string, samples: Samples): Promise<boolean> {
  for (const end = Date.now() + patienceMs; Date.now() < end; ) {
    const shown = await Promise.all([samples.orchard, samples.almanac].map(repo => isShown(serverUrl, repo)))
    if (shown.every(Boolean)) return true
    await wait(50)
  }
  return false
}

async function isShown(serverUrl: string, repo: SeededRepo): Promise<boolean> {
  const url = new URL('/xrpc/dev.knotless.listPulls', serverUrl)
  url.searchParams.set('repo', repo.uri)
  url.searchParams.set('limit', '100')
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) })
    if (!response.ok) return false
    return answer.parse(await response.json()).pulls.length >= Object.keys(repo.pulls).length
  } catch {
    return false
  }
}
