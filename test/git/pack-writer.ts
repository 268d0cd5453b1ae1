import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

/** An object as a pack holds it: whole, or a delta on the object that comes `base` places before it. */
export type PackObject = { type: 'commit' | 'tree' | 'blob' | 'tag'; data: Uint8Array } | { base: number; delta: Uint8Array }

const types = { commit: 1, tree: 2, blob: 3, tag: 4 } as const
const offsetDelta = 6

/** Makes objects by the thousand without running git for each. */
export class ObjectMaker {
  readonly objects: PackObject[] = []

  add(type: 'commit' | 'tree' | 'blob', data: Uint8Array | string): string {
    const bytes = Buffer.from(data)
    this.objects.push({ type, data: bytes })
    return createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex')
  }

  /** A tree of these entries, in the order given. */
  tree(entries: readonly { mode: string; name: string; id: string }[]): string {
    return this.add('tree', Buffer.concat(entries.flatMap(row => [Buffer.from(`${row.mode} ${row.name}\0`), Buffer.from(row.id, 'hex')])))
  }

  commit(tree: string, parents: readonly string[] = []): string {
    const lines = [`tree ${tree}`, ...parents.map(id => `parent ${id}`), 'author A <a@b> 1 +0000', 'committer A <a@b> 1 +0000', '', 'x', '']
    return this.add('commit', lines.join('\n'))
  }

  pack(): Buffer {
    return writePack(this.objects)
  }
}

/** Writes a pack by hand, for packs that git would not write. */
export function writePack(objects: readonly PackObject[]): Buffer {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  head.writeUInt32BE(objects.length, 8)
  const chunks: Buffer[] = [head]
  const offsets: number[] = []
  let offset = head.length
  for (const [at, object] of objects.entries()) {
    offsets.push(offset)
    const delta = 'delta' in object
    const data = delta ? object.delta : object.data
    const base = delta ? distance(offset - (offsets[at - object.base] ?? 0)) : Buffer.alloc(0)
    const entry = Buffer.concat([size(delta ? offsetDelta : types[object.type], data.length), base, deflated(data)])
    chunks.push(entry)
    offset += entry.length
  }
  return seal(Buffer.concat(chunks))
}

/** Small data is stored by hand as it is: a compressor for each of many thousand objects takes minutes. */
function deflated(data: Uint8Array): Buffer {
  if (data.length > 2000) return deflateSync(data)
  let [a, b] = [1, 0]
  for (const byte of data) {
    a = (a + byte) % 65_521
    b = (b + a) % 65_521
  }
  const length = data.length
  const head = [0x78, 0x01, 0x01, length & 0xff, length >> 8, ~length & 0xff, (~length >> 8) & 0xff]
  return Buffer.concat([Buffer.from(head), data, Buffer.from([b >> 8, b & 0xff, a >> 8, a & 0xff])])
}

/** The start of a pack of so many objects, up to the data of the first one. */
export function packHeader(objects: number, type: 'commit' | 'tree' | 'blob' | 'tag', length: number): Buffer {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  head.writeUInt32BE(objects, 8)
  return Buffer.concat([head, size(types[type], length)])
}

/** Adds the checksum that a pack ends in. */
export function seal(content: Uint8Array): Buffer {
  return Buffer.concat([content, createHash('sha1').update(content).digest()])
}

/** A delta that copies its whole base so many times. */
export function repeatDelta(baseSize: number, times: number): Buffer {
  const copy = Buffer.from([0x80 | 0x70, baseSize & 0xff, (baseSize >> 8) & 0xff, (baseSize >> 16) & 0xff])
  return Buffer.concat([varint(baseSize), varint(baseSize * times), ...Array.from({ length: times }, () => copy)])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return Buffer.from([...bytes, rest])
}

function size(type: number, length: number): Buffer {
  const first = (type << 4) | (length & 0x0f)
  const rest = Math.floor(length / 16)
  return rest === 0 ? Buffer.from([first]) : Buffer.concat([Buffer.from([first | 0x80]), varint(rest)])
}

/** How far back a delta's base lies, in the pack format's own way of counting. */
function distance(back: number): Buffer {
  const bytes = [back & 0x7f]
  for (let rest = Math.floor(back / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1
    bytes.unshift((rest & 0x7f) | 0x80)
  }
  return Buffer.from(bytes)
}
