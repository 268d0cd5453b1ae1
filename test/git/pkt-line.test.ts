import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { onBand, packetReader } from '../../src/git/packets.ts'
import { flushPkt, keepAlive, pktLine, readReceiveRequest, receiveBounds, receiveReport } from '../../src/git/pkt-line.ts'

const [a, b, zero] = ['a'.repeat(40), 'b'.repeat(40), '0'.repeat(40)]

/** A stream of these bytes in chunks that end at the given places. */
async function* inChunks(bytes: Buffer, cuts: readonly number[] = []): AsyncGenerator<Uint8Array> {
  let start = 0
  for (const end of [...cuts.map(cut => cut % (bytes.length + 1)).sort((x, y) => x - y), bytes.length]) {
    yield bytes.subarray(start, end)
    start = end
  }
}

async function all(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function codeOf(...parts: (string | Uint8Array)[]): Promise<string> {
  const read = await readReceiveRequest(inChunks(Buffer.concat(parts.map(part => Buffer.from(part)))))
  return read.ok ? 'ok' : read.code
}

const cuts = fc.array(fc.nat(5000), { maxLength: 20 })

test('packets come out as they went in, however the stream is cut', async () => {
  const payload = fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes))
  const packets = fc.array(fc.option(payload, { nil: 'flush' as const }), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(packets, payload, cuts, async (sent, rest, places) => {
      const bytes = Buffer.concat([...sent.map(packet => (packet === 'flush' ? flushPkt : pktLine(packet))), Buffer.from('0000'), rest])
      const reader = packetReader(inChunks(bytes, places))
      for (const packet of [...sent, 'flush' as const]) {
        assert.deepEqual(await reader.next(), packet === 'flush' ? { kind: 'flush' } : { kind: 'line', payload: packet })
      }
      assert.deepEqual(await all(reader.rest), rest)
      assert.deepEqual(await reader.next(), { kind: 'end' })
    }),
    { numRuns: 200 },
  )
  assert.throws(() => pktLine(Buffer.alloc(65_517)))
  assert.equal(pktLine(Buffer.alloc(65_516)).toString('latin1', 0, 4), 'fff0')
  assert.equal(keepAlive.toString('latin1'), '0005\x02')
})

test('a push request gives its commands and leaves the pack byte for byte, however the stream is cut', async () => {
  const id = fc.constantFrom(a, b)
  const name = fc.stringMatching(/^refs\/(heads|tags)\/[a-z/.]{1,20}$/)
  const command = fc.oneof(
    fc.record({ name, old: id, new: id }, { noNullPrototype: true }),
    fc.record({ name, old: fc.constant(null), new: id }, { noNullPrototype: true }),
    fc.record({ name, old: id, new: fc.constant(null) }, { noNullPrototype: true }),
  )
  const commands = fc.uniqueArray(command, { selector: row => row.name, minLength: 1, maxLength: 20 })
  const pack = fc.uint8Array({ maxLength: 2000 }).map(bytes => Buffer.from(bytes))
  await fc.assert(
    fc.asyncProperty(commands, pack, fc.boolean(), cuts, async (sent, content, newline, places) => {
      const lines = sent.map(
        (row, at) => `${row.old ?? zero} ${row.new ?? zero} ${row.name}${at === 0 ? '\0 atomic agent=git/2' : ''}${newline ? '\n' : ''}`,
      )
      const read = await readReceiveRequest(inChunks(Buffer.concat([...lines.map(line => pktLine(line)), flushPkt, content]), places))
      assert.ok(read.ok)
      assert.deepEqual(read.commands, sent)
      assert.deepEqual([...read.capabilities], ['atomic', 'agent=git/2'])
      assert.deepEqual(await all(read.pack), content)
    }),
    { numRuns: 200 },
  )
})

test('what stock git sends is read', async () => {
  const input = `${zero} ${a} refs/heads/größe\0 report-status-v2 side-band-64k object-format=sha1`
  const read = await readReceiveRequest(inChunks(Buffer.concat([pktLine(input), flushPkt])))
  assert.ok(read.ok)
  assert.deepEqual(read.commands, [{ name: 'refs/heads/größe', old: null, new: a }])
  assert.equal((await all(read.pack)).length, 0)
  // The probe before a large push.
  const probe = await readReceiveRequest(inChunks(flushPkt))
  assert.ok(probe.ok && probe.commands.length === 0)
})

test('STO-11 requests that are none, or too much, are refused before the pack is read', async () => {
  const first = pktLine(`${a} ${b} refs/heads/main\0atomic`)
  const line = (text: string | Uint8Array) => [first, pktLine(text), flushPkt]
  assert.equal(await codeOf(first, flushPkt), 'ok')
  const bad: (string | Uint8Array)[][] = [
    [],
    ['00'],
    ['zzzz'],
    ['0001'],
    ['0003'],
    ['fff1', Buffer.alloc(70_000, 'x')],
    [first],
    [first, '00'],
    [first, '0010abc'],
    [pktLine('')],
    line(`${a} ${b} refs/heads/main`),
    line(`${a} ${b} refs/heads/other\0atomic`),
    line(`${a} ${b} `),
    line(`${a} ${b}`),
    line(`${zero} ${zero} refs/heads/x`),
    line(`${a.toUpperCase()} ${b} refs/heads/x`),
    line(`${a.slice(1)} ${b} refs/heads/x`),
    line(`${a} ${b} refs/heads/x\ny`),
    line(`${a} ${b} refs/heads/x\x1b[2J`),
    line(Buffer.concat([Buffer.from(`${a} ${b} refs/heads/`), Buffer.from([0xff])])),
    [pktLine(`${a} ${b} refs/heads/main\0atomic\0more`), flushPkt],
  ]
  for (const parts of bad)
    assert.equal(
      await codeOf(...parts),
      'bad-request',
      Buffer.concat(parts.map(part => Buffer.from(part)))
        .toString()
        .slice(0, 120),
    )
  assert.equal(await codeOf(pktLine(`shallow ${a}`), first, flushPkt), 'ok')
  assert.equal(await codeOf(pktLine('shallow x'), first, flushPkt), 'bad-request')
  assert.equal(await codeOf(pktLine('push-cert\0atomic\n'), flushPkt), 'not-supported')
  assert.equal(await codeOf(pktLine(`${a} ${b} refs/heads/main\0push-options`), flushPkt), 'not-supported')
  assert.equal(await codeOf(pktLine(`${a} ${b} refs/heads/main\0${'x'.repeat(5000)}`), flushPkt), 'too-large')
  // A name that leads elsewhere is a name to be refused like any, with its own reason.
  assert.equal(await codeOf(pktLine(`${zero} ${b} refs/heads/../../x`), flushPkt), 'ok')
})

test('STO-11 of 10,000 refs in one push no more than 1,000 are read, and the rest can be drained', async () => {
  const lines = Array.from({ length: 10_000 }, (_, n) => pktLine(`${zero} ${a} refs/heads/b${n}`))
  assert.equal(await codeOf(...lines.slice(0, receiveBounds.commands), flushPkt), 'ok')
  const body = Buffer.concat([...lines, flushPkt, Buffer.alloc(100_000)])
  let taken = 0
  async function* counted() {
    for await (const chunk of inChunks(
      body,
      Array.from({ length: 900 }, (_, n) => n * 1000),
    )) {
      taken += chunk.length
      yield chunk
    }
  }
  const read = await readReceiveRequest(counted())
  assert.ok(!read.ok && read.code === 'too-large')
  assert.equal(read.message, 'More than 1,000 refs in one push.')
  assert.ok(taken < 120_000)
  assert.equal((await all(read.rest)).length > 700_000, true)
  assert.equal(taken, body.length)
  const long = Array.from({ length: 200 }, (_, n) => pktLine(`${zero} ${a} refs/heads/${'x'.repeat(4000)}${n}`))
  assert.equal(await codeOf(...long, flushPkt), 'too-large')
})

test('a pack that is left in the middle goes on where it was, and its stream is not ended', async () => {
  let ended = false
  async function* body() {
    try {
      yield Buffer.concat([pktLine(`${a} ${b} refs/heads/main`), flushPkt, Buffer.from('1')])
      yield Buffer.from('2')
      yield Buffer.from('3')
    } finally {
      ended = true
    }
  }
  const read = await readReceiveRequest(body())
  assert.ok(read.ok)
  for await (const chunk of read.pack) {
    assert.equal(chunk.length, 1)
    break
  }
  assert.equal(ended, false)
  assert.equal((await all(read.pack)).toString(), '23')
  async function* failing() {
    yield Buffer.from('00')
    throw new Error('cut off')
  }
  await assert.rejects(readReceiveRequest(failing()), /cut off/)
})

/** What a client makes of a reply: the report's lines and what it prints. */
async function understood(reply: Buffer): Promise<{ report: string[]; printed: string }> {
  const outer = packetReader(inChunks(reply))
  const bands: Buffer[][] = [[], [], [], []]
  for (let packet = await outer.next(); packet.kind === 'line'; packet = await outer.next()) {
    bands[packet.payload[0] ?? 0]?.push(packet.payload.subarray(1))
  }
  assert.deepEqual(await outer.next(), { kind: 'end' })
  const inner = packetReader(inChunks(Buffer.concat(bands[1] ?? [])))
  const report: string[] = []
  for (let packet = await inner.next(); packet.kind === 'line'; packet = await inner.next()) report.push(packet.payload.toString())
  return { report, printed: Buffer.concat(bands[2] ?? []).toString() }
}

test('a report says what became of the pack and of each ref, in what the client takes', async () => {
  const refs = [
    { name: 'refs/heads/main', ok: false as const, reason: 'queue-only:\nqueue the \x1b[31mpull\u202e' },
    { name: 'refs/heads/topic', ok: true as const },
    { name: 'refs/heads/x', ok: false as const, reason: ' ' },
  ]
  const reply = receiveReport({ refs, remote: ['one', 'two\rthree'] }, new Set(['report-status', 'side-band-64k']))
  assert.deepEqual(await understood(reply), {
    report: ['unpack ok\n', 'ng refs/heads/main queue-only: queue the  [31mpull\n', 'ok refs/heads/topic\n', 'ng refs/heads/x refused\n'],
    printed: 'one\ntwo three\n',
  })
  const plain = receiveReport({ unpack: 'no\nroom', refs: [], remote: ['unseen'] }, new Set(['report-status-v2']))
  assert.equal(plain.toString(), '0013unpack no room\n0000')
  assert.equal(receiveReport({ refs, remote: ['one'] }, new Set(['side-band-64k'])).toString(), '0009\x02one\n0000')
  assert.equal(receiveReport({ refs }, new Set()).length, 0)
  const many = Array.from({ length: 1000 }, (_, n) => ({ name: `refs/heads/${n}`, ok: false as const, reason: 'x'.repeat(400) }))
  const { report } = await understood(receiveReport({ refs: many }, new Set(['report-status', 'side-band-64k'])))
  assert.equal(report.length, 1001)
  assert.equal(onBand(1, '').length, 0)
})
