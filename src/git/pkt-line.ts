import { type PacketReader, packetReader } from './packets.ts'
import { words } from './words.ts'

export { flushPkt, keepAlive, pktLine } from './packets.ts'
export { type ReceiveReport, receiveReport, remoteLines } from './receive-report.ts'

/** A ref that a push wants moved; `null`: it is not there before, or is to be deleted. The name is whatever was sent, without controls. */
export interface ReceiveCommand {
  name: string
  old: string | null
  new: string | null
}

/** Why a request is none that is taken. `rest`: what is left of the body, to be read to its end or cut off by who answers. */
export interface ReceiveRefusal {
  ok: false
  code: 'bad-request' | 'too-large' | 'not-supported'
  message: string
  rest: AsyncIterable<Uint8Array>
}

/** A receive-pack request. Without commands it is a probe, which git sends before a large push. */
export interface ReceiveRequest {
  ok: true
  commands: ReceiveCommand[]
  capabilities: Set<string>
  /** The pack; nothing at all when only refs are deleted. Iterating it again goes on where it was. */
  pack: AsyncIterable<Uint8Array>
}

/** Commands of one push, bytes of them all, and of the first one's capabilities. */
export const receiveBounds = { commands: 1000, bytes: 512 * 1024, capabilities: 4096 } as const

const zeros = '0'.repeat(40)

/**
 * Takes the commands off the body of a git-receive-pack request and leaves the pack (one that is compressed has been unpacked before). A stream
 * that fails throws as it does. Refused: more than 1,000 commands or 512 KiB of them, signed pushes.
 */
export async function readReceiveRequest(body: AsyncIterable<Uint8Array>): Promise<ReceiveRequest | ReceiveRefusal> {
  const reader = packetReader(body)
  const commands: ReceiveCommand[] = []
  const names = new Set<string>()
  let capabilities = new Set<string>()
  let bytes = 0
  for (;;) {
    const packet = await reader.next()
    if (packet.kind === 'flush') break
    if (packet.kind !== 'line') return refused(reader, 'bad-request', words.badRequest())
    bytes += packet.payload.length
    if (commands.length === receiveBounds.commands || bytes > receiveBounds.bytes) {
      return refused(reader, 'too-large', words.tooManyUpdates(receiveBounds.commands))
    }
    const line = textOf(packet.payload)
    if (line === undefined) return refused(reader, 'bad-request', words.badRequest())
    // Where the client's history ends; what it does not have is here, or the strict check of the pack says so.
    if (/^shallow [0-9a-f]{40}$/.test(line)) continue
    if (/^push-cert/.test(line)) return refused(reader, 'not-supported', words.signedPush())
    const [text = '', ...more] = line.split('\0')
    const command = commandOf(text)
    if (command === undefined || more.length > (commands.length === 0 ? 1 : 0)) return refused(reader, 'bad-request', words.badRequest())
    if (names.has(command.name)) return refused(reader, 'bad-request', words.doubleRef(command.name))
    const said = more[0] ?? ''
    if (said.length > receiveBounds.capabilities) return refused(reader, 'too-large', words.badRequest())
    if (commands.length === 0) capabilities = new Set(said.split(' ').filter(Boolean))
    names.add(command.name)
    commands.push(command)
  }
  if (capabilities.has('push-options')) return refused(reader, 'not-supported', words.pushOptions())
  return { ok: true, commands, capabilities, pack: reader.rest }
}

function refused(reader: PacketReader, code: ReceiveRefusal['code'], message: string): ReceiveRefusal {
  return { ok: false, code, message, rest: reader.rest }
}

/** A line without the newline that may end it; undefined for bytes that are no text. */
function textOf(payload: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload).replace(/\n$/, '')
  } catch {
    return undefined
  }
}

function commandOf(line: string): ReceiveCommand | undefined {
  const found = /^([0-9a-f]{40}) ([0-9a-f]{40}) (\P{Cc}{1,4096})$/u.exec(line)
  const [, from, to, name] = found ?? []
  if (from === undefined || to === undefined || name === undefined || (from === zeros && to === zeros)) return undefined
  return { name, old: from === zeros ? null : from, new: to === zeros ? null : to }
}
