import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/**
 * Served files by the name they have under `/static/`: our own from public/, the others from the packages they come in.
 */
const files: Readonly<Record<string, { from: readonly string[]; type: string }>> = {
  'css/knotless.css': { from: ['public/css/knotless.css'], type: 'text/css; charset=utf-8' },
  'js/knotless.js': { from: ['public/js/knotless.js'], type: 'text/javascript; charset=utf-8' },
  'js/live.js': { from: ['public/js/live.js'], type: 'text/javascript; charset=utf-8' },
  'js/tail.js': { from: ['public/js/tail.js'], type: 'text/javascript; charset=utf-8' },
  'img/mark.svg': { from: ['public/img/mark.svg'], type: 'image/svg+xml' },
  'sprite.svg': { from: ['public/sprite.svg'], type: 'image/svg+xml' },
  'favicon.ico': { from: ['public/favicon.ico'], type: 'image/x-icon' },
  'vendor/pico.min.css': { from: ['node_modules/@picocss/pico/css/pico.min.css'], type: 'text/css; charset=utf-8' },
  'vendor/htmx.js': { from: ['node_modules/htmx.org/dist/htmx.min.js'], type: 'text/javascript; charset=utf-8' },
}

/** A file that pages refer to. */
export interface Asset {
  /** Under `/static/`. */
  name: string
  type: string
  bytes: Buffer
  /** Address with the hash of the content as `v`: what is served there never changes, so it may be kept for good. */
  url: string
}

/** Reads every served file once. */
export function loadAssets(): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>()
  for (const [name, { from, type }] of Object.entries(files)) {
    const bytes = Buffer.concat(from.flatMap((path, at) => [Buffer.from(at === 0 ? '' : '\n'), readFileSync(join(root, path))]))
    const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 10)
    assets.set(name, { name, type, bytes, url: `/static/${name}?v=${hash}` })
  }
  return assets
}

/** The address of a served file. A name that is not listed is a mistake in a template. */
export function assetUrl(assets: ReadonlyMap<string, Asset>, name: string): string {
  const asset = assets.get(name)
  if (asset === undefined) throw new Error(`no such asset: ${name}`)
  return asset.url
}
