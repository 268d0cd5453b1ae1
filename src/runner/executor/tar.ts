/** As much of tar as small files and folders in and out of a container take. */

const block = 512

export interface TarEntry {
  name: string
  /** A folder without it. */
  bytes?: Buffer
  mode: number
  /** User and group. */
  owner: number
}

/** Makes a tar. Names are at most 100 bytes. */
export function writeTar(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap(entry => {
    const { bytes } = entry
    return bytes === undefined ? [header(entry)] : [header(entry), bytes, Buffer.alloc(-bytes.length & (block - 1))]
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * block)])
}

function header({ name, bytes, mode, owner }: TarEntry): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error('a name is too long for this tar')
  const head = Buffer.alloc(block)
  const octal = (value: number, at: number, digits: number) => head.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1')
  head.write(name, 0)
  octal(mode, 100, 7)
  octal(owner, 108, 7)
  octal(owner, 116, 7)
  octal(bytes?.length ?? 0, 124, 11)
  octal(0, 136, 11)
  head.write('        ', 148, 'latin1')
  head.write(bytes === undefined ? '5' : '0', 156, 'latin1')
  head.write('ustar\0'.concat('00'), 257, 'latin1')
  const sum = head.reduce((all, byte) => all + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return head
}

/** Regular files in the bytes of a tar, or of the first part of one: those that are whole, with `cut` the one that is not as well. Never throws. */
export function readTar(bytes: Buffer, { cut = false } = {}): { name: string; bytes: Buffer }[] {
  const files: { name: string; bytes: Buffer }[] = []
  let longName: string | undefined
  for (let at = 0; at + block <= bytes.length; ) {
    const head = bytes.subarray(at, at + block)
    const size = Number.parseInt(text(head, 124, 12) || '0', 8)
    if (head[0] === 0 || !Number.isSafeInteger(size) || size < 0) break
    const body = bytes.subarray(at + block, at + block + size)
    if (body.length < size && !cut) break
    const kind = String.fromCharCode(head[156] ?? 0)
    if (kind === 'L') longName = text(body, 0, size)
    else if (kind === 'x') longName = paxPath(body) ?? longName
    else {
      const prefix = text(head, 345, 155)
      const short = text(head, 0, 100)
      const ustar = text(head, 257, 6) === 'ustar'
      if (kind === '0' || kind === '\0')
        files.push({ name: longName ?? (ustar && prefix !== '' ? `${prefix}/${short}` : short), bytes: body })
      longName = undefined
    }
    at += block + Math.ceil(size / block) * block
  }
  return files
}

function text(bytes: Buffer, from: number, length: number): string {
  const field = bytes.subarray(from, from + length)
  const end = field.indexOf(0)
  return field
    .subarray(0, end < 0 ? undefined : end)
    .toString('utf8')
    .trim()
}

function paxPath(body: Buffer): string | undefined {
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at)
    const length = Number(body.subarray(at, Math.max(at, space)).toString('latin1'))
    if (space < 0 || !Number.isSafeInteger(length) || length <= 0) return undefined
    const record = body.subarray(space + 1, at + length - 1).toString('utf8')
    if (record.startsWith('path=')) return record.slice(5)
    at += length
  }
  return undefined
}
