import { setImmediate as immediate } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import type { StreamFaults } from '../faults/faults.ts'
import { createSignal } from '../signal.ts'
import { type Filter, wants } from './filter.ts'
import type { EventLog, LogEvent } from './log.ts'

const page = 256
/** Bytes that may wait in a socket; past it the consumer is read to no further, and its events stay in the log. */
const highWater = 1 << 20

/** One consumer of the stream. */
export interface Subscriber {
  /** Something changed (events, faults): look again. */
  wake(): void
  /** Replaces the whole filter; lets a consumer that asked to say hello first start. */
  setFilter(filter: Filter): void
  /** Settles when the consumer is gone and nothing runs for it any more. */
  readonly done: Promise<void>
}

/** Sends the log to one socket from sequence number `from` on, through its filter and the faults, as fast as the socket takes it and no faster. */
export function subscribe(options: {
  socket: WebSocket
  log: EventLog
  faults: StreamFaults
  filter: Filter
  from: number
  started: boolean
}): Subscriber {
  const { socket, log, faults } = options
  const signal = createSignal()
  let { filter, from: next, started } = options
  let kept: Array<{ event: LogEvent; after: number; due: number }> = []

  const open = () => socket.readyState === socket.OPEN
  const blocked = () => !started || faults.held() || socket.bufferedAmount > highWater

  function send(event: LogEvent): void {
    const frame = encode(event)
    if (filter.maxBytes > 0 && Buffer.byteLength(frame) > filter.maxBytes) return
    socket.send(frame, () => signal.fire())
  }

  function sendKept(ready: (entry: { after: number; due: number }) => boolean): void {
    const out = kept.filter(ready)
    kept = kept.filter(entry => !out.includes(entry))
    for (const entry of out) send(entry.event)
  }

  async function pause(ms: number, still: () => boolean): Promise<void> {
    const end = Date.now() + ms
    const timer = setTimeout(() => signal.fire(), ms + 1)
    while (open() && still() && Date.now() < end) await signal.next()
    clearTimeout(timer)
  }

  async function deliver(event: LogEvent): Promise<void> {
    const fate = faults.judge(event)
    if (fate.drop) return
    if (fate.reorder > 0) {
      kept.push({ event, after: fate.reorder, due: Date.now() + fate.reorderMs })
      setTimeout(() => signal.fire(), fate.reorderMs + 1).unref()
      return
    }
    if (fate.delayMs > 0) await pause(fate.delayMs, fate.active)
    if (!open()) return
    for (let copy = 0; copy < fate.copies; copy++) send(event)
    for (const entry of kept) entry.after -= 1
    sendKept(entry => entry.after <= 0)
  }

  async function run(): Promise<void> {
    while (open()) {
      if (blocked()) {
        await signal.next()
        continue
      }
      const cleared = !faults.any()
      sendKept(entry => cleared || entry.due <= Date.now())
      const events = log.read(next, page)
      if (events.length === 0) {
        await signal.next()
        continue
      }
      for (const event of events) {
        if (!open() || blocked()) break
        next = event.seq + 1
        if (wants(filter, event)) await deliver(event)
      }
      // A long replay lets others have their turn.
      if (events.length === page) await immediate()
    }
  }

  socket.on('close', () => signal.fire())
  return {
    wake: () => signal.fire(),
    setFilter(wanted) {
      filter = wanted
      started = true
      signal.fire()
    },
    done: run(),
  }
}

/** The wire form of an event. The body is JSON already. */
function encode(event: LogEvent): string {
  return `{"did":${JSON.stringify(event.did)},"time_us":${event.timeUs},"cursor":${event.seq},"kind":"${event.kind}","${event.kind}":${event.body}}`
}
