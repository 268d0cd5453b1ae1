import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a request that changes something may come from where it says it does. Browsers say so in `Sec-Fetch-Site` or `Origin`, and
 * neither can be set by a page; a client that sends neither is no browser, and the form token decides alone.
 */
export function isSameSite(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  return headers.origin === undefined || headers.origin === publicUrl
}

/** Whether a method changes nothing. */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}
