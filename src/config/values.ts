/** The kinds of values that configuration holds, and the line that says which variable is wrong. */
import { z } from 'zod'

/** An http(s) address without a slash at its end; with `originOnly` without path, query and user as well. */
export function httpUrl(options: { originOnly?: boolean } = {}) {
  return z
    .string()
    .transform(text => URL.parse(text))
    .refine(url => url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.hash === '')
    .refine(url => url === null || !options.originOnly || (url.pathname === '/' && url.search === '' && url.username === ''))
    .transform(url => (url?.href ?? '').replace(/\/$/, ''))
}

export const webSocketUrl = z.string().refine(text => {
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'ws:' || url.protocol === 'wss:')
})

export const port = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .refine(number => number >= 1 && number <= 65_535)

export const flag = z.enum(['0', '1', 'false', 'true']).transform(word => word === '1' || word === 'true')

/** Minutes, in milliseconds. */
export const minutes = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(text => Number(text) * 60_000)
  .refine(ms => ms >= 60_000)

export const perMinute = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number)
  .refine(number => number >= 10)

/** A whole number within bounds, both taken. */
export function count(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine(number => number >= least && number <= most)
}

/** `host:port`, `[::1]:port`, or a port alone on loopback. */
export const hostAndPort = z
  .string()
  .regex(/^((\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):)?\d{1,5}$/)
  .transform(text => {
    const colon = text.lastIndexOf(':')
    const host = colon === -1 ? '127.0.0.1' : text.slice(0, colon).replace(/^\[|\]$/g, '')
    return { host, port: Number(text.slice(colon + 1)) }
  })
  .refine(address => address.port >= 1 && address.port <= 65_535)

/** Whether a host name, as URLs write it, is this machine's own. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

/** One line: the first variable at fault with what it wants, and the names of the others. */
export function faultLine(error: z.ZodError, given: Readonly<Record<string, unknown>>, wants: Readonly<Record<string, string>>): string {
  const names = [...new Set(error.issues.map(issue => String(issue.path[0])))]
  const [first = '', ...others] = names
  const line = `${first} is ${first in given ? 'not right' : 'missing'}: it wants ${wants[first] ?? 'another value'}`
  return others.length === 0 ? line : `${line} (also at fault: ${others.join(', ')})`
}
