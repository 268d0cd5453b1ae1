import type { ServerResponse } from 'node:http'

/** What a page shows: a repository or a run, by its address, or any change (`any`), at the version that it was made from. Runs have no versions: 0. */
export interface Topic {
  of: string
  version: number
}

/** The open event streams of all pages. */
export interface Streams {
  /**
   * Opens a stream on a response whose head is not sent yet; `address` is where it goes to. False when there are as many as there may be, and nothing
   * is done then.
   */
  open(response: ServerResponse, address: string, topics: readonly Topic[]): boolean
  /**
   * Something is of another version now. Who watches it is told: at once if that was not done a moment ago, else when the moment is over. `leastMs` is
   * how long that is at least: what grows all the time need not be asked for all the time.
   */
  changed(topic: Topic, leastMs?: number): void
  /** How many are open. */
  count(): number
}

interface Stream {
  response: ServerResponse
  rooms: Room[]
  /** Beats since it was opened. */
  beats: number
  /** Beats for which it has not taken what was sent. */
  stuck: number
  mostBeats: number
}

interface Room extends Topic {
  streams: Set<Stream>
  toldAt: number
  timer?: NodeJS.Timeout | undefined
}

export interface StreamOptions {
  /** At most so many, in all and to one address. */
  most: { all: number; perAddress: number }
  /** The clock for pacing, in milliseconds. */
  now?: () => number
  /** A beat tells a page that the connection lives, in milliseconds. */
  beatMs?: number
}

/** At each of these beats a page asks for what became different by time alone: how long a run takes still, that a lander is not seen any more. */
const AGED_BEATS = 3
/** A stream ends after about this many beats, and its page opens another: one that nobody reads any more is not held for ever. */
const MOST_BEATS = 90
/** One that takes nothing for this many beats is dropped: what waits for it is bounded by Node's own mark, 16 KiB. */
const STUCK_BEATS = 2
/** Beats are spread, so that not all streams are written to at once. */
const SLOTS = 20

/** Each watcher asks for what changed: the more there are, the longer the moment between two times that they are told, in milliseconds. */
export function paceOf(watchers: number): number {
  return Math.min(1_000, Math.max(50, watchers / 4))
}

/** Nothing in here keeps the process alive. */
export function createStreams({ most, now = () => performance.now(), beatMs = 20_000 }: StreamOptions): Streams {
  const rooms = new Map<string, Room>()
  const slots = Array.from({ length: SLOTS }, () => new Set<Stream>())
  const perAddress = new Map<string, number>()
  let all = 0
  let slot = 0

  function beat(): void {
    slot = (slot + 1) % SLOTS
    for (const stream of slots[slot] ?? []) keepAlive(stream)
  }
  setInterval(beat, beatMs / SLOTS).unref()

  function roomOf({ of, version }: Topic): Room {
    const room = rooms.get(of) ?? { of, version, streams: new Set(), toldAt: Number.NEGATIVE_INFINITY }
    rooms.set(of, room)
    return room
  }

  function tell(room: Room): void {
    clearTimeout(room.timer)
    room.timer = undefined
    room.toldAt = now()
    const event = Buffer.from(changedEvent(room))
    for (const { response } of room.streams) send(response, event)
  }

  return {
    open(response, address, topics) {
      // One that has left already would never leave again.
      if (response.destroyed) return false
      const here = perAddress.get(address) ?? 0
      if (all >= most.all || here >= most.perAddress) return false
      all += 1
      perAddress.set(address, here + 1)
      const beats = slots[all % SLOTS] ?? new Set()
      const mostBeats = MOST_BEATS + (all % SLOTS)
      const stream: Stream = { response, rooms: topics.map(roomOf), beats: 0, stuck: 0, mostBeats }
      beats.add(stream)
      for (const room of stream.rooms) room.streams.add(stream)
      response.once('close', () => {
        all -= 1
        const left = (perAddress.get(address) ?? 1) - 1
        if (left > 0) perAddress.set(address, left)
        else perAddress.delete(address)
        beats.delete(stream)
        for (const room of stream.rooms) {
          room.streams.delete(stream)
          if (room.streams.size > 0) continue
          clearTimeout(room.timer)
          rooms.delete(room.of)
        }
      })
      // Without chunks around it an event is one write; the stream has its connection for itself anyway.
      response.removeHeader('transfer-encoding')
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      response.write('event: beat\ndata:\n\n')
      return true
    },
    changed(topic, leastMs = 0) {
      const room = rooms.get(topic.of)
      if (room === undefined) return
      room.version = topic.version
      const wait = room.toldAt + Math.max(leastMs, paceOf(room.streams.size)) - now()
      if (wait <= 0) tell(room)
      else room.timer ??= setTimeout(tell, wait, room).unref()
    },
    count: () => all,
  }
}

function keepAlive(stream: Stream): void {
  const { response } = stream
  stream.beats += 1
  stream.stuck = response.writableNeedDrain ? stream.stuck + 1 : 0
  if (stream.stuck >= STUCK_BEATS || stream.beats > stream.mostBeats) {
    response.destroy()
    return
  }
  if (stream.beats === stream.mostBeats) response.end()
  else if (stream.beats % AGED_BEATS !== 0) send(response, 'event: beat\ndata:\n\n')
  else for (const room of stream.rooms) send(response, changedEvent(room))
}

/** The event of a topic that is of another version. What changed is not in it: the page asks for it. */
export function changedEvent({ of, version }: Topic): string {
  return `id: ${version}\nevent: changed\ndata: ${of}@${version}\n\n`
}

/** A reader that does not keep up misses beats and changes: the next one it gets is as good. */
function send(response: ServerResponse, text: string | Buffer): void {
  if (!response.writableNeedDrain && !response.writableEnded && !response.destroyed) response.write(text)
}
