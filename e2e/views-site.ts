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
  /** Says on every open stream that what pages show is of another version. */
  change(version: number): void
  /** How many streams are open, how many were ever opened, and what the open ones watch. */
  streams(): number
  opened(): number
  watched(): string[]
  /** Cuts every stream, and refuses new ones with this status until it is called without. */
  cut(refuse?: number): void
  close(): Promise<void>
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** What pages of a site show. */
export const shown = 'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.repo/orchard'

/** Answers by `answer`; `/events` is the stream. */
export async function serveViews(
  answer: (request: SiteRequest) => { status: number; html: string } | Promise<{ status: number; html: string }>,
): Promise<Site> {
  const files = new Map([...renderer().assets.values()].map(asset => [`/static/${asset.name}`, asset]))
  const open = new Map<ServerResponse, string[]>()
  let opened = 0
  let current = 1
  const changed = () => `id: ${current}\nevent: changed\ndata: ${shown}@${current}\n\n`
  let refused: number | undefined
  const server = await serveHttp((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const file = files.get(pathname)
    if (file !== undefined) {
      response.setHeader('content-type', file.type)
      response.end(file.bytes)
      return
    }
    if (pathname === '/events') {
      response.writeHead(refused ?? 200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      if (refused !== undefined) response.end()
      else {
        response.write('event: beat\ndata:\n\n')
        open.set(response, searchParams.getAll('of'))
        opened += 1
        // As the server does: a reader of another version is told at once.
        if (searchParams.getAll('of').some(of => of.startsWith(`${shown}@`) && of !== `${shown}@${current}`)) response.write(changed())
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
    change: version => {
      current = version
      for (const stream of open.keys()) stream.write(changed())
    },
    streams: () => open.size,
    opened: () => opened,
    watched: () => [...open.values()].flat(),
    cut: refuse => {
      refused = refuse
      for (const stream of open.keys()) stream.destroy()
    },
    close: () => server.close(),
  }
}
