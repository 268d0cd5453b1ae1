import { z } from 'zod'
import type { DevAccount } from './account.ts'
import { type Answer, alertOn, tokenOn, type Visitor } from './visitor.ts'

type Person = Pick<DevAccount, 'did' | 'handle' | 'password'>

/** The account's server's own sign-in page, by the requests that its scripts make. */
export interface SignInPage {
  /** Signs in with the account's password and grants what is asked. Gives where the browser is sent. */
  authorize(): Promise<string>
  /** Refuses what is asked, and gives where the browser is sent. */
  deny(): Promise<string>
}

/** Goes through the door up to the account's own server. */
export async function goToServer(visitor: Visitor, url: string, account: Person, next = '/'): Promise<SignInPage> {
  const form = await visitor.get(`${url}/login?next=${encodeURIComponent(next)}`)
  const sent = await visitor.post(`${url}/login`, { handle: account.handle, next, _csrf: tokenOn(form.text) })
  if (sent.status !== 303) throw new Error(`the log-in of ${account.handle} answered ${sent.status}: ${alertOn(sent.text)}`)
  const between = await visitor.follow(`${url}/login`, sent)
  const href = /href="(\/login\/start[^"]*)"/.exec(between.text)?.[1]?.replaceAll('&amp;', '&').replaceAll('&#38;', '&')
  if (href === undefined) throw new Error('no way on')
  const started = await visitor.get(`${url}${href}`, { headers: { 'sec-fetch-site': 'same-origin' } })
  return openSignIn(visitor, started.headers.location ?? '', account)
}

/** Opens an authorization address, as the browser does that is sent there. */
export async function openSignIn(visitor: Visitor, href: string, account: Person): Promise<SignInPage> {
  const page = await visitor.get(href)
  if (page.status !== 200) throw new Error(`the sign-in page answered ${page.status}: ${page.text.slice(0, 200)}`)
  const { origin } = new URL(href)

  async function call(path: string, body: Record<string, unknown>): Promise<unknown> {
    const answer = await visitor.send('POST', `${origin}/@atproto/oauth-provider/~api${path}`, {
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        accept: '*/*',
        'sec-fetch-site': 'same-origin',
        'sec-fetch-mode': 'same-origin',
        'sec-fetch-dest': 'empty',
        origin,
        referer: href,
        'x-csrf-token': visitor.cookies(origin).get('csrf-token') ?? '',
      },
    })
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
    return JSON.parse(answer.text)
  }

  /** Where the sign-in page sends the browser at last. */
  async function leave(answer: unknown): Promise<string> {
    const { url } = z.object({ url: z.string() }).parse(answer)
    const headers = { 'sec-fetch-site': 'same-origin', referer: href }
    const redirect = await visitor.get(url, { headers })
    return redirect.headers.location ?? url
  }

  const signIn = () => call('/sign-in', { locale: 'en', username: account.handle, password: account.password, remember: true })
  return {
    async authorize() {
      await signIn()
      return leave(await call('/consent', { did: account.did }))
    },
    async deny() {
      await signIn()
      return leave(await call('/reject', {}))
    },
  }
}

/** Logs a visitor in, for real. Gives the answer of the callback. */
export async function logIn(visitor: Visitor, url: string, account: Person, next = '/'): Promise<Answer> {
  const page = await goToServer(visitor, url, account, next)
  return visitor.get(await page.authorize(), { headers: { 'sec-fetch-site': 'cross-site' } })
}
