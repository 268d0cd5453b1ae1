import type { DevAccount } from './account.ts'
import { logIn, openSignIn } from './log-in.ts'
import { alertOn, tokenOn, Visitor } from './visitor.ts'

type Giver = Pick<DevAccount, 'did' | 'handle' | 'password'>

/**
 * Lets the server write for an account, as its owner does on Settings: logged in, over the consent page of the account's own server, by plain HTTP. A
 * delegation that stands is renewed. Nobody is left logged in. Throws with what the server said when it does not come about.
 */
export async function giveDelegation(serverUrl: string, account: Giver): Promise<void> {
  const visitor = new Visitor('Mozilla/5.0 (X11; Linux x86_64) knotless-devnet')
  await logIn(visitor, serverUrl, account, '/settings')
  try {
    const answer = await delegate(visitor, serverUrl, account)
    if (answer.status !== 303) throw new Error(`the delegation of ${account.handle} came to ${answer.status}: ${alertOn(answer.text)}`)
  } finally {
    const settings = await visitor.get(`${serverUrl}/settings`)
    if (settings.status === 200) await visitor.post(`${serverUrl}/logout`, { _csrf: tokenOn(settings.text) })
  }
}

/** Takes back what `giveDelegation` gave, as its owner does on Settings. Throws with what the server said when it does not come about. */
export async function takeDelegation(serverUrl: string, account: Giver): Promise<void> {
  const visitor = new Visitor('Mozilla/5.0 (X11; Linux x86_64) knotless-devnet')
  await logIn(visitor, serverUrl, account, '/settings')
  const settings = await visitor.get(`${serverUrl}/settings`)
  const answer = await visitor.post(`${serverUrl}/settings/delegation/withdraw`, { _csrf: tokenOn(settings.text) })
  if (answer.status !== 303) throw new Error(`${account.handle} could not withdraw, ${answer.status}: ${alertOn(answer.text)}`)
  await visitor.post(`${serverUrl}/logout`, { _csrf: tokenOn(settings.text) })
}

/** From Settings to the account's own server and back, by whoever is logged in. Gives the last answer, where `decide` led to. */
export async function delegate(
  visitor: Visitor,
  serverUrl: string,
  account: Giver,
  decide: 'authorize' | 'deny' = 'authorize',
): ReturnType<Visitor['get']> {
  const back = await atConsent(visitor, serverUrl, account, decide)
  return visitor.get(back, { headers: { 'sec-fetch-site': 'cross-site' } })
}

/** As `delegate`, up to the address that the browser is sent back to. */
export async function atConsent(
  visitor: Visitor,
  serverUrl: string,
  account: Giver,
  decide: 'authorize' | 'deny' = 'authorize',
): Promise<string> {
  const settings = await visitor.get(`${serverUrl}/settings`)
  const sent = await visitor.post(`${serverUrl}/settings/delegation/give`, { _csrf: tokenOn(settings.text) })
  const between = await visitor.follow(`${serverUrl}/settings/delegation/give`, sent)
  const href = /href="(\/settings\/delegation\/start)"/.exec(between.text)?.[1]
  if (href === undefined) throw new Error(`no way to the account's server: ${alertOn(between.text)}`)
  const started = await visitor.get(`${serverUrl}${href}`, { headers: { 'sec-fetch-site': 'same-origin' } })
  if (started.status !== 303) throw new Error(`the server does not lead to the account's: ${alertOn(started.text)}`)
  const page = await openSignIn(visitor, started.headers.location ?? '', account)
  return page[decide]()
}
