/** Starts processes for a program that has grown, and does nothing else: see `starter.ts`. Argument: the socket that their streams lead to. */
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { killChild } from './processes.ts'
import type { FromStarter, ToStarter } from './starter.ts'

const path = process.argv[2] ?? ''
const children = new Map<number, { child: ChildProcess; group: boolean } | 'wanted' | 'killed'>()

/** Whoever asked may be gone by now: then there is nobody to tell. */
function tell(message: FromStarter): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

/** A stream of a process, which is never read here: it is handed on as it is. */
function open(id: number, stream: 'io' | 'err'): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect({ path, allowHalfOpen: true })
  socket.pause()
  socket.on('error', reject)
  socket.once('connect', () => socket.write(`${id} ${stream}\n`, () => resolve(socket)))
  return promise
}

async function start({ id, command, args, env, cwd, group = false }: Extract<ToStarter, { what: 'start' }>): Promise<void> {
  children.set(id, 'wanted')
  const opened = await Promise.allSettled([open(id, 'io'), open(id, 'err')])
  const sockets = opened.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  const [io, err] = sockets
  const close = () => {
    for (const socket of sockets) socket.destroy()
  }
  if (io === undefined || err === undefined || children.get(id) === 'killed') {
    close()
    children.delete(id)
    tell({ id, what: 'failed', message: 'not started' })
    return
  }
  const child = spawn(command, args, { env, cwd, detached: group, stdio: [io, io, err] })
  close()
  children.set(id, { child, group })
  if (child.pid !== undefined) tell({ id, what: 'started', pid: child.pid })
  child.once('error', error => {
    children.delete(id)
    tell({ id, what: 'failed', message: error.message })
  })
  child.once('exit', code => {
    children.delete(id)
    tell({ id, what: 'ended', code })
  })
}

process.on('message', (message: ToStarter) => {
  if (message.what === 'start') {
    void start(message)
    return
  }
  const found = children.get(message.id)
  if (found === 'wanted') children.set(message.id, 'killed')
  else if (typeof found === 'object') killChild(found.child, found.group)
})
process.on('disconnect', () => {
  for (const found of children.values()) if (typeof found === 'object') killChild(found.child, found.group)
  // Whoever asked may have been killed, and left its folder.
  rmSync(dirname(path), { recursive: true, force: true })
  process.exit(0)
})
// A terminal tells the whole group; this program ends with the one that it starts processes for.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
tell({ id: 0, what: 'ready' })
