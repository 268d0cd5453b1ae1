import { type ObjectsPlace, objectTypes } from './objects.ts'

/**
 * The first ref that is at something it may not be at, and what that is (no type: at nothing). Branches are at commits, tags at commits or at tags
 * of commits.
 */
export async function badTarget<Row extends { name: string; commit: string }>(
  place: ObjectsPlace,
  refs: readonly Row[],
): Promise<{ row: Row; type?: string } | undefined> {
  const found = await objectTypes(
    place,
    refs.map(row => row.commit),
  )
  const isTagObject = (row: Row, at: number) => row.name.startsWith('refs/tags/') && found[at]?.type === 'tag'
  const tags = refs.filter(isTagObject)
  const peeled = await objectTypes(
    place,
    tags.map(row => `${row.commit}^{commit}`),
  )
  const good = new Set(tags.filter((_, at) => peeled[at] !== undefined))
  for (const [at, row] of refs.entries()) {
    const type = found[at]?.type
    if (type === undefined) return { row }
    if (type !== 'commit' && !good.has(row)) return { row, type }
  }
  return undefined
}
