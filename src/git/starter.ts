/**
 * Starting a process copies the memory tables of the program that does it, which stands still meanwhile: at 250 MB a start was measured to take 17 ms
 * where it takes 4 in a small program. So a small program starts them, and their streams lead straight here, past it.
 */
import { fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { z } from 'zod'
import { type Start, type Started, type StartOptions, startStraight } from './processes.ts'

export type ToStarter =
  | ({ id: number; what: 'start'; command: string; args: readonly string[] } & StartOptions)
  | { id: number; what: 'kill' }
export type FromStarter =
  | { id: number; what: 'ready' }
  | { id: number; what: 'started'; pid: number }
  | { id: number; what: 'failed'; message: string }
  | { id: number; what: 'ended'; code: number | null }

/** A small program that starts processes for this one. */
export interface Starter {
  /** Starts a process by it, and straight once it has ended. */
  readonly start: Start
  /** Ends it, and whatever it started. */
  close(): Promise<void>
}

/** Starts the small program. Rejects when it cannot be had. It ends with this program, however this one ends. */
export async function openStarter(): Promise<Starter> {
  const runs = new Map<number, EventEmitter>()
  // Nobody else may come to a folder of one's own.
  const dir = mkdtempSync(join(tmpdir(), 'knotless-starter-'))
  const clear = () => rmSync(dir, { recursive: true, force: true })
  process.once('exit', clear)
  const path = join(dir, 'socket')
  const server = createServer({ allowHalfOpen: true }, socket => greet(socket, runs))
  server.listen(path)
  await once(server, 'listening')
  const program = join(import.meta.dirname, 'starter-program.ts')
  const child = fork(program, [path], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: ['--max-semi-space-size=1'] })
  const ended = Promise.withResolvers<void>()
  let alive = true
  child.on('message', (message: unknown) => {
    const said = readMessage(message)
    if (said !== undefined) runs.get(said.id)?.emit(said.what, said)
  })
  child.once('error', () => undefined)
  child.once('exit', () => {
    alive = false
    server.close()
    clear()
    process.off('exit', clear)
    for (const run of runs.values()) run.emit('failed', { message: 'what starts processes has ended' })
    ended.resolve()
  })
  await Promise.race([once(child, 'message'), ended.promise])
  if (!alive) throw new Error('the program that starts processes does not run')
  child.unref()
  server.unref()
  child.channel?.unref()

  function send(message: ToStarter): void {
    if (child.connected) child.send(message, () => undefined)
  }
  let last = 0
  return {
    start(command, args, options) {
      if (!alive || !child.connected) return startStraight(command, args, options)
      const id = ++last
      const run = new EventEmitter()
      runs.set(id, run)
      // This program stays while anything runs.
      child.channel?.ref()
      const started = follow(run, () => send({ id, what: 'kill' }))
      void started.closed.then(() => {
        runs.delete(id)
        if (runs.size === 0) child.channel?.unref()
      })
      send({ id, what: 'start', command, args, ...options })
      return started
    },
    close() {
      // Its end is waited for by whoever asks for it, and by nobody else.
      child.ref()
      if (child.connected) child.disconnect()
      return ended.promise
    },
  }
}

const messageShape = z.union([
  z.object({ id: z.number(), what: z.literal('ready') }),
  z.object({ id: z.number(), what: z.literal('started'), pid: z.number() }),
  z.object({ id: z.number(), what: z.literal('failed'), message: z.string() }),
  z.object({ id: z.number(), what: z.literal('ended'), code: z.number().nullable() }),
])

function readMessage(message: unknown): FromStarter | undefined {
  return messageShape.safeParse(message).data
}

/** A stream says in its first line whose it is. */
function greet(socket: Socket, runs: ReadonlyMap<number, EventEmitter>): void {
  socket.on('error', () => undefined)
  let head = ''
  const read = () => {
    for (let byte: Buffer | null = socket.read(1); byte !== null; byte = socket.read(1)) {
      if (byte[0] !== 0x0a) {
        head += byte.toString('latin1')
        if (head.length > 32) socket.destroy()
        continue
      }
      socket.off('readable', read)
      const [id, stream = ''] = head.split(' ')
      if (runs.get(Number(id))?.emit(stream, socket) !== true) socket.destroy()
      return
    }
  }
  socket.on('readable', read)
}

function follow(run: EventEmitter, kill: () => void): Started {
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const pid = Promise.withResolvers<number | undefined>()
  const ended = Promise.withResolvers<{ code: number | null; error?: Error }>()
  run.once('io', (socket: Socket) => {
    stdin.pipe(socket)
    socket.pipe(stdout)
    socket.once('close', () => stdout.end())
  })
  run.once('err', (socket: Socket) => {
    socket.end()
    socket.pipe(stderr)
    socket.once('close', () => stderr.end())
  })
  run.once('started', (message: { pid: number }) => pid.resolve(message.pid))
  run.once('ended', ({ code }: { code: number | null }) => ended.resolve({ code }))
  run.once('failed', ({ message }: { message: string }) => ended.resolve({ code: null, error: new Error(message) }))
  const closed = ended.promise.then(async end => {
    pid.resolve(undefined)
    if (end.error === undefined) await Promise.all([stdout, stderr].map(over))
    else for (const stream of [stdin, stdout, stderr]) stream.destroy()
    return end
  })
  return { stdin, stdout, stderr, pid: pid.promise, kill, closed }
}

/** When all of a stream was read, or nobody reads it any more. */
function over(stream: PassThrough): Promise<void> {
  if (stream.readableEnded || stream.destroyed) return Promise.resolve()
  return new Promise(resolve => {
    for (const event of ['end', 'close'] as const) stream.once(event, () => resolve())
  })
}
