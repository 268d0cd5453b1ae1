import type Docker from 'dockerode'
import { z } from 'zod'
import { readDisk } from './container.ts'
import { answered } from './engine.ts'
import { endStream, readFrames } from './frames.ts'
import type { RunLimits } from './limits.ts'
import type { RunWatch } from './watch.ts'

/** Follows what the container's own process says of the disk, until what it gives is called. */
export async function watchInside(engine: Docker, container: Docker.Container, limits: RunLimits, watch: RunWatch): Promise<() => void> {
  const stream = await answered(container.attach({ stream: true, stdout: true, stderr: true }))
  let first: number | undefined
  let measuring = false
  void readFrames(engine, stream, bytes => {
    for (const line of bytes.subarray(-1000).toString('latin1').split('\n')) {
      const disk = readDisk(line)
      if (disk === undefined) continue
      first ??= disk.used
      if (disk.free < limits.freeBytes) watch.stop('disk')
      // Looking at every file of every volume is dear: only once the disk has grown by what may be this run's.
      else if (disk.used - first > limits.diskBytes / 2 && !measuring) {
        measuring = true
        void sizeOf(engine, container).then(size => {
          measuring = false
          if (size > limits.diskBytes) watch.stop('files')
        })
      }
    }
  })
  return () => endStream(stream)
}

const volumeSizes = z.object({
  Volumes: z.array(z.object({ Name: z.string(), UsageData: z.object({ Size: z.number() }).nullish() })).nullish(),
})

/** Bytes in the volumes of a container, as its engine counts them; 0 where it does not. */
async function sizeOf(engine: Docker, container: Docker.Container): Promise<number> {
  try {
    const { Mounts } = await answered(container.inspect())
    const names = new Set(Mounts.map(({ Name }) => Name))
    const { Volumes } = volumeSizes.parse(await answered(engine.df()))
    const sizes = (Volumes ?? []).map(({ Name, UsageData }) => (names.has(Name) ? (UsageData?.Size ?? 0) : 0))
    return sizes.reduce((all, size) => all + Math.max(0, size), 0)
  } catch {
    return 0
  }
}
