import type { CookieSerializeOptions } from '@fastify/cookie'

/** The cookies: the session, what signed-out forms are bound to, and the log-in and the delegation that are under way. */
export interface Cookies {
  session: string
  form: string
  logIn: string
  delegation: string
  options: CookieSerializeOptions
}

/**
 * Names and options of the cookies. Off loopback the names bind them to this host over https; on loopback they carry the port, since cookies
 * are shared by all ports of an address.
 */
export function cookiesFor(config: { loopback: boolean; port: number }): Cookies {
  const name = (word: string) => (config.loopback ? `knotless-${word}-${config.port}` : `__Host-knotless-${word}`)
  return {
    session: name('session'),
    form: name('form'),
    logIn: name('login'),
    delegation: name('delegation'),
    options: { path: '/', httpOnly: true, sameSite: 'lax', secure: !config.loopback },
  }
}
