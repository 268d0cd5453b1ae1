import Database from 'better-sqlite3'

/** A hold that ends when it is closed, or with this process, however that ends. */
export interface Lock {
  close(): void
}

/** Holds a file for this process alone, making it where it is not there. Undefined when another process holds it. */
export function holdLock(path: string): Lock | undefined {
  const db = new Database(path, { timeout: 0 })
  try {
    db.pragma('locking_mode = EXCLUSIVE')
    db.exec('begin exclusive')
    return db
  } catch (error) {
    db.close()
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY') return undefined
    throw error
  }
}
