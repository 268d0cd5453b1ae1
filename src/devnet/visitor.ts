import { type IncomingHttpHeaders, request } from 'node:http'

/** One answer, read whole. */
export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

export interface Ask {
  headers?: Record<string, string>
  /** Sent as a form, or as it is when it is a string. */
  body?: Record<string, string> | string
}

/**
 * A browser without scripts: keeps cookies per host and says where a request comes from, as browsers do. Redirects are followed only by
 * `follow`. The platform's fetch cannot be used, since it writes `Sec-Fetch-*` itself.
 */
export class Visitor {
  readonly agent: string
  readonly #jars = new Map<string, Map<string, string>>()

  constructor(agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0') {
    this.agent = agent
  }

  /** Cookies held for an address, by name. */
  cookies(url: string): Map<string, string> {
    const { host } = new URL(url)
    const jar = this.#jars.get(host) ?? new Map<string, string>()
    this.#jars.set(host, jar)
    return jar
  }

  get(url: string, ask: Ask = {}): Promise<Answer> {
    return this.send('GET', url, {
      ...ask,
      headers: { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', ...ask.headers },
    })
  }

  /** A form sent from a page of the same site. */
  post(url: string, body: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> {
    const { origin } = new URL(url)
    return this.send('POST', url, { body, headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', origin, ...headers } })
  }

  send(method: string, url: string, { headers = {}, body }: Ask): Promise<Answer> {
    const jar = this.cookies(url)
    const text = typeof body === 'string' ? body : body && new URLSearchParams(body).toString()
    const all: Record<string, string> = { 'user-agent': this.agent, accept: 'text/html', ...headers }
    if (jar.size > 0) all.cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    if (body !== undefined && typeof body !== 'string') all['content-type'] = 'application/x-www-form-urlencoded'
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { method, headers: all }, incoming => {
        for (const line of incoming.headers['set-cookie'] ?? []) keep(jar, line)
        let read = ''
        incoming.setEncoding('utf8')
        incoming.on('data', chunk => (read += chunk))
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text: read }))
        incoming.on('error', reject)
      })
      outgoing.on('error', reject)
      outgoing.end(text)
    })
  }

  /** A page, over at most 10 redirects, with its address. */
  async follow(url: string, first?: Answer): Promise<Answer & { url: string }> {
    let at = url
    let answer = first ?? (await this.get(at))
    for (let hop = 0; answer.headers.location !== undefined; hop++) {
      if (hop === 10) throw new Error(`no end of redirects at ${at}`)
      at = new URL(answer.headers.location, at).href
      answer = await this.get(at)
    }
    return { ...answer, url: at }
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';')
  const at = pair.indexOf('=')
  const name = pair.slice(0, at)
  const gone = attributes.some(attribute => /^\s*(max-age=0|expires=thu, 01 jan 1970)/i.test(attribute))
  if (gone) jar.delete(name)
  else jar.set(name, pair.slice(at + 1))
}

/** The token of a form on a page. */
export function tokenOn(page: string): string {
  const found = /name="_csrf" value="([^"]+)"/.exec(page)?.[1]
  if (found === undefined) throw new Error('no form on the page')
  return found
}

/** What a page refuses with, as text; its beginning where it does not. */
export function alertOn(page: string): string {
  const alert = /role="alert">([\s\S]*?)<\/div>/.exec(page)?.[1] ?? page.slice(0, 200)
  return alert
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
