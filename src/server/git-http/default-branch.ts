import { randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mirror } from '../../git/mirror.ts'
import { isRefName, refName } from '../../git/ref-names.ts'

/** Points a mirror's HEAD at the default branch of the repository's record, so that a clone checks it out. A name that git does not take changes nothing. */
export async function pointHead(mirror: Mirror, branch: string): Promise<void> {
  const name = refName(branch)
  if (!isRefName(name)) return
  const file = join(mirror.dir, 'HEAD')
  const wanted = `ref: ${name}\n`
  if ((await readFile(file, 'utf8')) === wanted) return
  const fresh = `${file}.${randomUUID()}`
  await writeFile(fresh, wanted)
  await rename(fresh, file)
}
