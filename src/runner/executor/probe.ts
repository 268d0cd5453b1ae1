import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { answered, openEngine } from './engine.ts'

export interface FoundEngine {
  socketPath: string
  name: 'docker' | 'podman'
  version: string
}

const probeMs = 3_000

/**
 * Finds the container engine that answers: the socket that is named, and no other then; else `DOCKER_HOST` where it is a socket, then the usual
 * places of Docker and Podman, root's before a user's own. Without one, `tried` says where it looked.
 */
export async function findEngine(options: {
  socket?: string | undefined
  env: Readonly<Record<string, string | undefined>>
}): Promise<({ ok: true } & FoundEngine) | { ok: false; tried: readonly string[] }> {
  const tried = places(options)
  for (const socketPath of tried) {
    const found = existsSync(socketPath) ? await ask(socketPath) : undefined
    if (found !== undefined) return { ok: true, ...found }
  }
  return { ok: false, tried }
}

function places({ socket, env }: Parameters<typeof findEngine>[0]): string[] {
  if (socket !== undefined) return [socket.replace(/^unix:\/\//, '')]
  const named = /^unix:\/\/(.+)$/.exec(env.DOCKER_HOST ?? '')?.[1]
  if (named !== undefined) return [named]
  const { XDG_RUNTIME_DIR: runtime, HOME: home } = env
  return [
    '/var/run/docker.sock',
    '/run/podman/podman.sock',
    ...(runtime ? [join(runtime, 'docker.sock'), join(runtime, 'podman', 'podman.sock')] : []),
    ...(home ? [join(home, '.docker', 'run', 'docker.sock'), join(home, '.docker', 'desktop', 'docker.sock')] : []),
  ]
}

async function ask(socketPath: string): Promise<FoundEngine | undefined> {
  try {
    const { Version, Components = [] } = await answered(openEngine(socketPath).version(), probeMs)
    const podman = Components.some(({ Name }) => /podman/i.test(Name))
    return { socketPath, name: podman ? 'podman' : 'docker', version: Version }
  } catch {
    return undefined
  }
}
