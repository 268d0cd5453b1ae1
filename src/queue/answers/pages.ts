/** Pages of lists: `limit` items after `cursor`, a cursor being the place of the last item that was given. */

export interface PageQuery {
  limit?: number | undefined
  cursor?: string | undefined
}

const LIMIT = 50
const MOST = 100

/**
 * The items after the cursor, of a list that is sorted by `placeOf` (ascending, or descending as said), and the cursor of the next page
 * when there is one. Items that came or went meanwhile neither repeat nor skip others.
 */
export function pageOf<T>(
  items: readonly T[],
  placeOf: (item: T) => string,
  query: PageQuery,
  descending = false,
): { items: T[]; cursor?: string | undefined } {
  const limit = Math.min(MOST, Math.max(1, query.limit ?? LIMIT))
  const { cursor } = query
  const from = cursor === undefined ? 0 : firstAfter(items, placeOf, cursor, descending)
  const page = items.slice(from, from + limit)
  const last = page.at(-1)
  return { items: page, cursor: last !== undefined && from + limit < items.length ? placeOf(last) : undefined }
}

function firstAfter<T>(items: readonly T[], placeOf: (item: T) => string, cursor: string, descending: boolean): number {
  const index = items.findIndex(item => (descending ? placeOf(item) < cursor : placeOf(item) > cursor))
  return index < 0 ? items.length : index
}
