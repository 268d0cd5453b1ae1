import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

const tools =
  'sh cat chmod cp cut date dd df du env expr find grep head id ln ls mkdir mkfifo mv nproc readlink rm sed seq setsid sleep sort stat tail tar touch tr wc xargs yes'

/**
 * Makes the root folder of a small image out of this machine's own files: a shell, the usual tools and what they are linked against. So tests need
 * no registry and no network. Throws where this machine's files are not for Linux.
 */
export function makeImageRoot(root: string): void {
  if (process.platform !== 'linux') throw new Error('the image for tests is made of files of a Linux machine')
  for (const folder of ['usr/bin', 'bin', 'tmp', 'proc', 'sys', 'dev', 'etc']) mkdirSync(join(root, folder), { recursive: true })
  chmodSync(join(root, 'tmp'), 0o1777)
  const copied = new Set<string>()
  const take = (from: string, to = from) => {
    const target = join(root, to)
    if (copied.has(target)) return
    copied.add(target)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(realpathSync(from), target)
  }
  for (const tool of tools.split(' ')) {
    const path = (process.env.PATH ?? '')
      .split(':')
      .concat('/usr/bin', '/bin')
      .map(folder => join(folder, tool))
      .find(existsSync)
    if (path === undefined) continue
    take(path, join('usr/bin', tool))
    const linked = spawnSync('ldd', [path], { encoding: 'utf8' }).stdout
    for (const [library] of linked.matchAll(/\/\S+/g)) if (existsSync(library)) take(library)
  }
  symlinkSync('../usr/bin/sh', join(root, 'bin', 'sh'))
}

/** The folder as a tar, at `file`. */
export function packImage(root: string, file: string): void {
  execFileSync('tar', ['-C', root, '--owner=0', '--group=0', '--numeric-owner', '-cf', file, '.'])
}
