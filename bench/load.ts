import autocannon from 'autocannon'

const CONNECTIONS = 50

export interface Load {
  /** Milliseconds. */
  mean: number
  p50: number
  p99: number
  perSecond: number
}

/** 50 connections that ask for these paths in turn, for `seconds`. Throws when an answer is not a 2xx. */
export async function load(origin: string, paths: readonly string[], seconds: number): Promise<Load> {
  const result = await autocannon({
    url: origin,
    connections: CONNECTIONS,
    duration: seconds,
    requests: paths.map(path => ({ method: 'GET' as const, path })),
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} answers other than 2xx and ${result.errors} errors from ${origin}`)
  const { latency, requests } = result
  return { mean: latency.mean, p50: latency.p50, p99: latency.p99, perSecond: requests.mean }
}
