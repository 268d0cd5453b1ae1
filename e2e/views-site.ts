/** A site that serves sample pages with the real files and the real content security policy, for looking at pages without a network. */
import type { ServerResponse } from 'node:http'
import { serveHttp } from '../test/support/http-server.ts'
import { renderer } from '../test/views/rendered.ts'

export interface SiteRequest {
  method: string
  path: string
  query: URLSearchParams
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: string
}

export interface Site {
  url: string
  /** Sends an event to every open stream. */
  send(event: string, id: number): void
  /** How many streams are open. */
  streams(): number
  /** Cuts every stream, and refuses new ones until it is called with false. */
  cut(refuse: boolean): void
  close(): Promise<void>
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Answers by `answer`; paths that end in `/events` are streams. */
export async function serveViews(
  answer: (request: SiteRequest) => { status: number; html: string } | Promise<{ status: number; html: string }>,
): Promise<Site> {
  const files = new Map([...renderer().assets.values()].map(asset => [`/static/${asset.name}`, asset]))
  const open = new Set<ServerResponse>()
  let refused = false
  const server = await serveHttp((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const file = files.get(pathname)
    if (file !== undefined) {
      response.setHeader('content-type', file.type)
      response.end(file.bytes)
      return
    }
    if (pathname.endsWith('/events') && pathname !== '/events') {
      response.writeHead(refused ? 503 : 200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      if (refused) response.end()
      else {
        response.write('event: beat\ndata:\n\n')
        open.add(response)
        response.on('close', () => open.delete(response))
      }
      return
    }
    let body = ''
    request.setEncoding('utf8')
    request.on('data', piece => (body += piece))
    request.on('end', async () => {
      const { status, html } = await answer({
        method: request.method ?? 'GET',
        path: pathname,
        query: searchParams,
        headers: request.headers,
        body,
      })
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
      response.end(html)
    })
  })
  return {
    url: server.url,
    send: (event, id) => {
      for (const stream of open) stream.write(`id: ${id}\nevent: ${event}\ndata: ${id}\n\n`)
    },
    streams: () => open.size,
    cut: refuse => {
      refused = refuse
      for (const stream of open) stream.destroy()
    },
    close: () => server.close(),
  }
}
