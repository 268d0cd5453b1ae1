import type Docker from 'dockerode'
import type { Job } from '../types.ts'
import { type CacheMount, inside } from './cache.ts'
import type { RunLimits } from './limits.ts'
import { type TarEntry, writeTar } from './tar.ts'

/** The steps' user and group in the container. */
export const runUser = 1000
/** Who looks at the disk from inside: nobody that a step could meddle with. */
const watchUser = 65534

/** Labels of what belongs to a runner's runs, and to its caches. */
export const labels = { run: 'dev.knotless.run', cache: 'dev.knotless.cache', id: 'dev.knotless.run.id' } as const

/** CPU weights: beside one another, a run that may be thrown away gets a fifth (AHD-5). */
const shares = { high: 1024, low: 205 } as const

/**
 * The container's own process: says every second how full the disk of its work tree is. It cannot be ended from inside, and where no process can be
 * started it stays all the same.
 */
const watchScript = `trap 'exec sleep 2147483647' EXIT
while :; do df -Pk ${inside.root} | tail -n 1; sleep 1; done`

/** The container of a run: its own user, no privileges, no network but where it is given, nothing of the host's, limits on all it takes. */
export function containerOptions(run: {
  job: Job
  image: string
  owner: string
  network: boolean
  limits: RunLimits
  mounts: readonly CacheMount[]
}): Docker.ContainerCreateOptions {
  const { job, limits, owner } = run
  const allProcesses = Math.max(8192, limits.processes * 8)
  const runLabels = { [labels.run]: owner, [labels.id]: job.id }
  const volume = (Target: string) => ({
    Type: 'volume' as const,
    Target,
    Source: '',
    VolumeOptions: { NoCopy: true, Labels: runLabels, DriverConfig: { Name: 'local', Options: {} } },
  })
  return {
    Image: run.image,
    Entrypoint: ['sh', '-c', watchScript],
    Cmd: [],
    User: `${watchUser}:${watchUser}`,
    WorkingDir: '/',
    AttachStdout: true,
    Labels: runLabels,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: run.network ? 'bridge' : 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      PidsLimit: limits.processes,
      CpuShares: shares[job.weight],
      Ulimits: [
        { Name: 'nofile', Soft: Math.min(1024, limits.openFiles), Hard: limits.openFiles },
        // Counted over all of a user's processes on the machine: what holds for one run is the limit above.
        { Name: 'nproc', Soft: allProcesses, Hard: allProcesses },
        { Name: 'core', Soft: 0, Hard: 0 },
      ],
      Tmpfs: { '/tmp': `rw,size=${limits.tmpBytes},nosuid,nodev,mode=1777` },
      // What is printed is kept by the runner.
      LogConfig: { Type: 'none', Config: {} },
      Mounts: [
        volume(inside.root),
        ...run.mounts.map(({ target, volume: name }) =>
          name === undefined
            ? volume(target)
            : {
                ...volume(target),
                Source: name,
                VolumeOptions: { NoCopy: true, Labels: { [labels.cache]: owner }, DriverConfig: { Name: 'local', Options: {} } },
              },
        ),
        ...run.mounts.flatMap(({ seed }, i) =>
          seed === undefined ? [] : [{ ...volume(`${inside.seeds}/${i}`), Source: seed, ReadOnly: true }],
        ),
      ],
    },
  }
}

/** Folders and steps of a run, as a tar for the root of its volume. The steps are not the user's to change. */
export function skeleton(job: Job, mounts: readonly CacheMount[]): Buffer {
  const folders = new Set(['./', 'tree/', 'home/', 'out/'])
  for (const { target } of mounts) {
    const parts = target.startsWith(`${inside.root}/`) ? target.slice(inside.root.length + 1).split('/') : []
    for (let n = 1; n <= parts.length; n++) folders.add(`${parts.slice(0, n).join('/')}/`)
  }
  const entries: TarEntry[] = [...folders].map(name => ({ name, mode: 0o755, owner: runUser }))
  entries.push({ name: 'steps/', mode: 0o755, owner: 0 })
  for (const [i, { run }] of job.workflow.steps.entries())
    entries.push({ name: `steps/${i + 1}`, bytes: Buffer.from(`${run}\n`), mode: 0o644, owner: 0 })
  return writeTar(entries)
}

/** What makes the root of a volume one that the steps may write, whoever the engine says it belongs to. */
export function openRoot(): Buffer {
  return writeTar([{ name: './', mode: 0o777, owner: runUser }])
}

/** Free and used bytes of a disk, of a line that `df -Pk` prints; undefined for any other. */
export function readDisk(line: string): { free: number; used: number } | undefined {
  const words = line.trim().split(/\s+/)
  const percent = words.findLastIndex(word => /^\d+%$/.test(word))
  const [used, free] = [words[percent - 2], words[percent - 1]].map(Number)
  if (percent < 3 || !Number.isSafeInteger(used) || !Number.isSafeInteger(free)) return undefined
  return { free: (free ?? 0) * 1024, used: (used ?? 0) * 1024 }
}

/** Commands before the steps: the tree out of the input, and caches filled from their seeds. */
export function beforeSteps(mounts: readonly CacheMount[]): string {
  const fills = mounts.flatMap(({ target, seed }, i) =>
    seed === undefined ? [] : [`cp -a ${inside.seeds}/${i}/. ${quoted(`${target}/`)} 2> /dev/null`],
  )
  return `tar -xf - -C ${inside.tree}; put=$?
printf '\\036%s tree %s\\n' "$mark" "$put"
[ "$put" -eq 0 ] || exit 97
${fills.join('\n')}`
}

/** Commands after the steps: what may match a report's pattern as one tar, whoever reads it looks closer. Symbolic links are not followed. */
export function afterSteps(pattern: string | undefined, folder: string): string {
  if (pattern === undefined) return ''
  const wide = pattern
    .replace(/^\.\//, '')
    .replace(/\{[^}]*\}/g, '*')
    .replace(/\*\*\//g, '*')
    .replace(/\*\*/g, '*')
  const find = `find ${quoted(`./${folder}`)} -type f -size -10240k -path ${quoted(`./${wide}`)}`
  return `cd ${inside.tree} && ${find} -exec tar -cf ${inside.report} {} + 2> /dev/null`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
