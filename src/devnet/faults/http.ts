import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { sendJson } from '../jetstream/respond.ts'
import type { Fault, Faults } from './faults.ts'
import { faultSchema } from './schema.ts'

const maxBody = 2_000_000

/**
 * The faults over HTTP, for a network that runs as a program: `GET` lists them, `POST` switches one on (`{"fault": "release"}` ends a hold),
 * `DELETE` switches all off, or one with `?id=`. Only JSON is taken, so that no web page can send it.
 */
export async function serveFaults(faults: Faults, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') return sendJson(response, 200, { faults: faults.list().map(show) })
  if (request.method === 'DELETE') {
    const id = new URL(request.url ?? '/', 'http://devnet').searchParams.get('id')
    if (id === null) faults.clear()
    else
      faults
        .list()
        .find(fault => String(fault.id) === id)
        ?.clear()
    return sendJson(response, 200, { faults: faults.list().map(show) })
  }
  if (request.method !== 'POST') return sendJson(response, 405, { error: 'MethodNotAllowed', message: 'GET, POST or DELETE' })
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    return sendJson(response, 415, { error: 'UnsupportedMediaType', message: 'send application/json' })
  }
  const body = await readBody(request)
  if (body === undefined) return sendJson(response, 413, { error: 'PayloadTooLarge', message: `at most ${maxBody} bytes` })
  const parsed = z.union([faultSchema, z.strictObject({ fault: z.literal('release') })]).safeParse(parseJson(body))
  if (!parsed.success) return sendJson(response, 400, { error: 'InvalidFault', message: z.prettifyError(parsed.error) })
  if (parsed.data.fault === 'release') {
    faults.release()
    return sendJson(response, 200, { faults: faults.list().map(show) })
  }
  sendJson(response, 200, show(faults.add(parsed.data)))
}

function show(fault: Fault): Record<string, unknown> {
  return { id: fault.id, hits: fault.hits(), ...fault.rule }
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBody) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
