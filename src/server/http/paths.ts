/** Where a log-in may come back to: paths of this server only. */

const MAX = 1024

/**
 * A path with its query on this server, or `/`. Refused are other origins in all their spellings (`//host`, `/\host`, schemes), control
 * characters and what is too long.
 */
export function samePath(value: unknown): string {
  if (typeof value !== 'string' || value.length > MAX || !/^\/(?![/\\])[\x21-\x7e]*$/.test(value) || value.includes('\\')) return '/'
  const base = 'http://here.invalid'
  const url = URL.parse(value, base)
  // Dots in a path are resolved, and what is left may begin with two slashes: another host.
  return url !== null && url.origin === base && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : '/'
}
