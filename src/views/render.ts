import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Eta } from 'eta'
import { LRUCache } from 'lru-cache'
import { type Asset, loadAssets } from './assets.ts'
import { createHelpers, type Kit } from './helpers.ts'
import { escapeValue, type Html } from './html.ts'
import { createMarkdown } from './markdown.ts'
import type {
  BatchPage,
  CheckPage,
  ConfirmChangePage,
  ConfirmLeavePage,
  ErrorPage,
  Frame,
  HelpPage,
  HomePage,
  LoginContinuePage,
  LoginPage,
  MyPullsPage,
  NotFoundPage,
  PullPage,
  QueuePage,
  RecordPage,
  RefusedPage,
  RepoHead,
  RepoSettingsAcceptPage,
  RepoSettingsPage,
  RepoSettingsVoidPage,
  RepositoryPage,
  SettingsPage,
  StatsPage,
} from './models.ts'
import { readHave, signatureOf, signed, swapOf } from './regions.ts'

/** The model of each page by its name. */
export interface PageModels {
  home: HomePage
  repository: RepositoryPage
  queue: QueuePage
  pull: PullPage
  batch: BatchPage
  check: CheckPage
  record: RecordPage
  stats: StatsPage
  'confirm-leave': ConfirmLeavePage
  'confirm-change': ConfirmChangePage
  login: LoginPage
  'login-continue': LoginContinuePage
  settings: SettingsPage
  'repo-settings': RepoSettingsPage
  'repo-settings-void': RepoSettingsVoidPage
  'repo-settings-accept': RepoSettingsAcceptPage
  'not-found': NotFoundPage
  error: ErrorPage
  help: HelpPage
  'my-pulls': MyPullsPage
  refused: RefusedPage
}

/** The regions of each live page: a page asks for those that changed by `?have=`, and the answer to a form by script is one of them. */
export interface PageParts {
  queue: 'health' | 'news' | 'flight' | 'waiting' | 'ejected' | 'landed' | 'figures' | 'activity'
  pull: 'under' | 'news' | 'box' | 'timeline' | 'checks'
  batch: 'news' | 'fate' | 'stack' | 'runs' | 'story'
  check: 'news' | 'result' | 'failed' | 'log'
  repository: 'notes' | 'queues' | 'pulls' | 'landing'
  home: 'repos'
  'my-pulls': 'list'
  stats: 'figures' | 'plots' | 'day' | 'table' | 'cancelled' | 'retried'
}

/** The same as a table. */
export const pageParts: { readonly [N in keyof PageParts]: readonly PageParts[N][] } = {
  queue: ['health', 'news', 'flight', 'waiting', 'ejected', 'landed', 'figures', 'activity'],
  pull: ['under', 'news', 'box', 'timeline', 'checks'],
  batch: ['news', 'fate', 'stack', 'runs', 'story'],
  check: ['news', 'result', 'failed', 'log'],
  repository: ['notes', 'queues', 'pulls', 'landing'],
  home: ['repos'],
  'my-pulls': ['list'],
  stats: ['figures', 'plots', 'day', 'table', 'cancelled', 'retried'],
}

export interface Renderer {
  /** The served files that pages refer to, by their name under `/static/`. */
  readonly assets: ReadonlyMap<string, Asset>
  /** The whole page as HTML. */
  renderPage<N extends keyof PageModels>(name: N, model: PageModels[N]): string
  /** One region of a live page, with its outer element. `box` is also the answer to Add and Leave by script. */
  renderPart<N extends keyof PageParts>(name: N, part: PageParts[N], model: PageModels[N]): string
  /**
   * The regions of a live page that differ from those that a reader has, each for its place in the page. `have` is what the page says of them, as
   * `health.x4Gh_2aB,waiting.0Kd31-zz`; what it does not name it does not get. Empty when nothing differs.
   */
  renderChanges<N extends keyof PageParts>(name: N, model: PageModels[N], have: string): string
}

const views = join(import.meta.dirname, 'templates')

/** Compiles every template, each under its path without `.eta`. */
function compile(development: boolean): Eta {
  const eta = new Eta({
    cache: true,
    debug: development,
    escapeFunction: escapeValue,
    functionHeader: 'const m = it.m, h = it.h;',
  })
  for (const entry of readdirSync(views, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.eta')) continue
    const file = join(entry.parentPath, entry.name)
    eta.loadTemplate(`@${relative(views, file).slice(0, -4)}`, readFileSync(file, 'utf8'))
  }
  // Each region is a template of its own, and signed as it leaves it: alone as well as within its page.
  const plainly = eta.render.bind(eta)
  eta.render = (template, data, meta) => signed(plainly(template, data, meta))
  return eta
}

/** Laid-out Markdown by its source, since the same texts are asked for again and again. Bounded by characters. */
function remembered(make: (text: string) => Html): (text: string) => Html {
  const kept = new LRUCache<string, Html>({ maxSize: 4_000_000, sizeCalculation: (html, text) => html.markup.length + text.length + 1 })
  return text => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const html = make(text)
    kept.set(text, html)
    return html
  }
}

/** Compiles the templates and reads the served files once. `development` names template and line in errors. */
export function createRenderer(options: { development?: boolean } = {}): Renderer {
  const eta = compile(options.development ?? false)
  const kit: Kit = { assets: loadAssets(), markdown: remembered(createMarkdown()) }
  const render = (template: string, model: { frame: Frame; repo?: RepoHead | undefined }) =>
    eta.render(template, { m: model, h: createHelpers(kit, model.frame, model.repo) })
  // All live pages say their news in the same words.
  const renderPart: Renderer['renderPart'] = (name, part, model) => render(part === 'news' ? '@parts/news' : `@${name}/${part}`, model)
  return {
    assets: kit.assets,
    renderPage: (name, model) => render(`@${name}`, model),
    renderPart,
    renderChanges(name, model, have) {
      const had = readHave(have)
      const parts: readonly PageParts[typeof name][] = pageParts[name]
      return parts
        .filter(part => had.has(part))
        .map(part => ({ part, html: renderPart(name, part, model) }))
        .filter(({ part, html }) => signatureOf(html) !== had.get(part))
        .map(({ part, html }) => swapOf(part, html))
        .join('\n')
    },
  }
}
