/** Paths of this server: where a log-in may come back to, and addresses as they are meant. */

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

/** The same address without slashes at the end of its path; undefined where there are none, or where what is left is no path of this server. */
export function withoutEndSlash(url: string): string | undefined {
  if (!url.endsWith('/') && !url.includes('/?')) return undefined
  const [path = '', ...query] = url.split(/(?=\?)/)
  let end = path.length
  while (path[end - 1] === '/') end--
  const bare = samePath(path.slice(0, end) + query.join(''))
  return end === path.length || bare === '/' ? undefined : bare
}
