import { createRenderer, type PageModels, type Renderer } from '../../src/views/render.ts'
import { pages } from './sample-rest.ts'

let made: Renderer | undefined

/** The renderer that the tests share, since it keeps nothing between pages. */
export function renderer(): Renderer {
  made ??= createRenderer({ development: true })
  return made
}

function each<N extends keyof PageModels>(page: N, models: Record<string, PageModels[N]>) {
  return Object.entries(models).map(([name, model]) => ({ page, name, html: renderer().renderPage(page, model) }))
}

/** Every sample page as HTML. */
export function rendered(): { page: keyof PageModels; name: string; html: string }[] {
  const { home, repository, queue, pull, login, settings, error, refused, ...rest } = pages()
  return [
    ...each('home', home),
    ...each('repository', repository),
    ...each('queue', queue),
    ...each('pull', pull),
    ...each('check', rest.check),
    ...each('stats', rest.stats),
    ...each('login', login),
    ...each('login-continue', rest['login-continue']),
    ...each('confirm-leave', rest['confirm-leave']),
    ...each('settings', settings),
    ...each('repo-settings', rest['repo-settings']),
    ...each('repo-settings-void', rest['repo-settings-void']),
    ...each('repo-settings-accept', rest['repo-settings-accept']),
    ...each('not-found', rest['not-found']),
    ...each('error', error),
    ...each('refused', refused),
  ]
}
