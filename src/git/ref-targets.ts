import { type ObjectsPlace, objectTypes } from './objects.ts'

/**
 * The first ref that is at something it may not be at, and what that is (no type: at nothing). Branches are at commits, tags at commits or at tags
 * of commits. `types`: of all these commits, where they are known already.
 */
export async function badTarget<Row extends { name: string; commit: string }>(
  place: ObjectsPlace,
  refs: readonly Row[],
  types?: ReadonlyMap<string, string | undefined>,
): Promise<{ row: Row; type?: string } | undefined> {
  const ids = refs.map(row => row.commit)
  const found = types === undefined ? (await objectTypes(place, ids)).map(object => object?.type) : ids.map(id => types.get(id))
  const isTagObject = (row: Row, at: number) => row.name.startsWith('refs/tags/') && found[at] === 'tag'
  const tags = refs.filter(isTagObject)
  const peeled = await objectTypes(
    place,
    tags.map(row => `${row.commit}^{commit}`),
  )
  const good = new Set(tags.filter((_, at) => peeled[at] !== undefined))
  for (const [at, row] of refs.entries()) {
    const type = found[at]
    if (type === undefined) return { row }
    if (type !== 'commit' && !good.has(row)) return { row, type }
  }
  return undefined
}
