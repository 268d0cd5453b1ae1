/** A bare repository that mirrors one refs record. */
export interface Mirror {
  /** The git directory. */
  readonly dir: string
  /** Its object directory. */
  readonly objects: string
  /** Runs `work` alone: one at a time per mirror, in the order asked. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

/** The mirrors of one data directory, each opened once. */
export interface Mirrors {
  /** The mirror of the repository with this AT-URI, created when it is not there. */
  of(repo: string): Promise<Mirror>
}

/** Opens the mirror in `dir`, creating it there when there is none. Two callers in one process share mirrors by `createMirrors`. */
export function openMirror(_dir: string): Promise<Mirror> {
  throw new Error('not written yet')
}

/** Mirrors under `root`, a directory a repository, named by a digest of its AT-URI (STO-10). */
export function createMirrors(_root: string): Mirrors {
  throw new Error('not written yet')
}
