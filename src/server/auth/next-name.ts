/** What a path of this server is, in a few words, such as "alice.test/orchard, the queue for main"; undefined where there is nothing to say. */
export function nameOfPath(path: string): string | undefined {
  const parts = (path.split('?')[0] ?? '').split('/').slice(1).map(decoded)
  const [owner, repo, kind, ...rest] = parts
  if (owner === 'settings' && repo === undefined) return 'your settings'
  if (!owner || !repo || !(owner.includes('.') || owner.startsWith('did:'))) return undefined
  const name = `${owner}/${repo}`
  if (kind === 'queue') return rest.length === 0 ? `${name}, the queue` : `${name}, the queue for ${rest.join('/')}`
  if (kind === 'settings') return `${name}, its settings`
  if (kind === 'pulls') return `${name}, a pull`
  return name
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
