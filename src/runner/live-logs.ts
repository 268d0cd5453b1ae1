/** Pieces of the logs of runs that are going, on their way to the server in small numbers: what is over is left out, as the whole log comes at the end (CHK-13). */

export interface Piece {
  check: string
  /** In bytes, from the log's start. */
  offset: number
  text: string
}

export interface LiveLogs {
  add(repo: string, piece: Piece): void
  /** Takes what is there for a repository, at most `most` pieces. */
  take(repo: string, most: number): readonly Piece[]
  /** Repositories for which something is there. */
  readonly repos: readonly string[]
}

/** Characters of one piece, and pieces that wait for one repository. */
const PIECE = 60_000
const MOST_WAITING = 200

export function createLiveLogs(): LiveLogs {
  const waiting = new Map<string, Piece[]>()
  return {
    add(repo, piece) {
      const pieces = waiting.get(repo) ?? []
      const last = pieces.at(-1)
      const follows = last?.check === piece.check && last.offset + Buffer.byteLength(last.text) === piece.offset
      if (last !== undefined && follows && last.text.length + piece.text.length <= PIECE)
        pieces[pieces.length - 1] = { ...last, text: last.text + piece.text }
      else pieces.push({ ...piece, text: piece.text.slice(0, PIECE) })
      waiting.set(repo, pieces.slice(-MOST_WAITING))
    },
    take(repo, most) {
      const pieces = waiting.get(repo) ?? []
      const taken = pieces.splice(0, most)
      if (pieces.length === 0) waiting.delete(repo)
      return taken
    },
    get repos() {
      return [...waiting.keys()]
    },
  }
}
