import type {
  ConfirmLeavePage,
  ErrorPage,
  HomePage,
  LoginContinuePage,
  LoginPage,
  NotFoundPage,
  PullPage,
  QueuePage,
  RefusedPage,
  RepositoryPage,
  SettingsPage,
} from './models.ts'

/** The model of each page by its name. */
export interface PageModels {
  home: HomePage
  repository: RepositoryPage
  queue: QueuePage
  pull: PullPage
  'confirm-leave': ConfirmLeavePage
  login: LoginPage
  'login-continue': LoginContinuePage
  settings: SettingsPage
  'not-found': NotFoundPage
  error: ErrorPage
  refused: RefusedPage
}

/** The regions of each live page that are fetched by themselves (`?part=`). */
export interface PageParts {
  queue: 'health' | 'news' | 'flight' | 'waiting' | 'ejected' | 'landed' | 'figures'
  pull: 'under' | 'news' | 'box' | 'timeline' | 'checks'
}

export interface Renderer {
  /** The whole page as HTML. */
  renderPage<N extends keyof PageModels>(name: N, model: PageModels[N]): string
  /** One region of a live page, with its outer element. `box` is also the answer to Add and Leave by script. */
  renderPart<N extends keyof PageParts>(name: N, part: PageParts[N], model: PageModels[N]): string
}

/** Compiles the templates once. `development` names template and line in errors. */
export function createRenderer(_options: { development?: boolean } = {}): Renderer {
  throw new Error('not written yet')
}
