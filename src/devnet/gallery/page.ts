/** The list of all states of the merge box, as a page of its own: each leads to the real page of a real pull. */
import { createServer } from 'node:http'
import { type Asset, loadAssets } from '../../views/assets.ts'
import { type Html, html } from '../../views/html.ts'
import { pullPath } from '../../views/paths.ts'
import { loopback } from '../ports.ts'
import type { Gallery } from './gallery.ts'
import { groups, type Scene } from './scene.ts'

/** Path of a scene's page on the server. */
export function pathOfScene({ cast }: Pick<Gallery, 'cast'>, { pull, repo }: Scene): string {
  const [, did = ''] = /^at:\/\/([^/]+)\//.exec(pull) ?? []
  const author = Object.values(cast).find(account => account.did === did)
  return pullPath(repo.owner, repo.name, { did, handle: author?.handle }, pull)
}

/** The page as HTML. `serverUrl` is where the pulls' pages are. */
export function galleryPage(gallery: Gallery, serverUrl: string): string {
  const { scenes, cast } = gallery
  const lookers = [...new Set(scenes.map(scene => scene.as))].flatMap(as => (as === 'nobody' ? [] : [cast[as]]))
  const part = (title: string) => {
    const of = scenes.filter(({ group }) => group === title)
    return of.length === 0
      ? ''
      : html`<section><h2>${title}</h2><ul class="rows sheet">${of.map(scene => row(gallery, scene, serverUrl))}</ul></section>`
  }
  const page = html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Merge box: every state · knotless</title>
  <meta name="color-scheme" content="light dark">
  <link rel="stylesheet" href="/vendor/pico.min.css">
  <link rel="stylesheet" href="/css/knotless.css">
</head>
<body>
  <main id="main" class="wrap">
    <h1>The merge box, state by state</h1>
    <p class="lead">Each line leads to the page of a real pull, put into its state by real records. The first state that is true wins, in this order.</p>
    <section>
      <h2>Who looks</h2>
      <p>Many states differ by who looks. <a href="${serverUrl}/login">Log in</a> with a handle; the password goes to the account’s own server. Where nobody is named, be logged in as ${cast.bob.handle}.</p>
      <dl class="kv">${lookers.map(({ handle, password }) => html`<dt>${handle}</dt><dd><code>${password}</code></dd>`)}</dl>
    </section>
    ${groups.map(part)}
  </main>
</body>
</html>
`
  return page.markup
}

function row(gallery: Gallery, scene: Scene, serverUrl: string): Html {
  const who = scene.as === 'bob' ? '' : scene.as === 'nobody' ? 'logged out' : `as ${gallery.cast[scene.as].handle}`
  const press = scene.press === undefined ? '' : `press “${scene.press}”`
  const how = [who, press].filter(Boolean).join(', ')
  return html`<li><div><a href="${serverUrl}${pathOfScene(gallery, scene)}">${scene.title}</a>${how === '' ? '' : html` <span class="meta">${how}</span>`}</div><span class="meta"><code>${scene.id}</code></span></li>`
}

const styles = new Set(['vendor/pico.min.css', 'css/knotless.css'])

/** Serves the page on loopback. */
export async function servePage(gallery: Gallery, serverUrl: string, port: number): Promise<{ url: string; stop(): Promise<void> }> {
  const assets: ReadonlyMap<string, Asset> = loadAssets()
  const server = createServer((request, response) => {
    const name = (request.url ?? '/').replace(/^\//, '').replace(/\?.*$/, '')
    const style = styles.has(name) ? assets.get(name) : undefined
    if (style !== undefined) response.writeHead(200, { 'content-type': style.type }).end(style.bytes)
    else if (name === '') response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(galleryPage(gallery, serverUrl))
    else response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such page.\n')
  })
  await new Promise<void>((listening, failed) => {
    server.once('error', failed)
    server.listen(port, loopback, listening)
  })
  const address = server.address()
  const at = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${loopback}:${at}/`,
    stop: () =>
      new Promise(done => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
