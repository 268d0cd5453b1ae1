/** Plots by day as SVG. Labels are HTML beside it, so that text keeps its size at every width. */
import { type Html, html } from './html.ts'
import type { Plot } from './models/stats.ts'

const WIDTH = 300
const HEIGHT = 100

/** The drawing of a plot: grid, bounds, bars or lines. Bars are links, out of the order of Tab since the table has the same ones. */
export function plotSvg(plot: Plot): Html {
  const grid = [0, 50, 100].map(y => html`<line x1="0" x2="${WIDTH}" y1="${y}" y2="${y}"/>`)
  const bounds = (plot.bounds ?? []).map(bound => {
    const y = height(bound, plot.top)
    return html`<line class="bound" x1="0" x2="${WIDTH}" y1="${y}" y2="${y}"/>`
  })
  const role = plot.bars === undefined ? 'img' : 'group'
  const marks = plot.bars === undefined ? drawLines(plot) : drawBars(plot)
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="${role}" aria-label="${plot.label}">${grid}${bounds}${marks}</svg>`
}

/** A number that the top of a plot may stand for: at least `most`, and even in its half. */
export function topFor(most: number): number {
  const steps = [2, 4, 6, 8, 10, 12, 16, 20, 24, 30, 40, 60, 80, 100, 120, 160]
  for (let scale = 1; ; scale *= 100) {
    const step = steps.find(each => each * scale >= most)
    if (step !== undefined) return step * scale
  }
}

function drawBars({ bars = [], top }: Plot): Html[] {
  const slot = WIDTH / Math.max(1, bars.length)
  return bars.map(({ href, says, parts }, n) => {
    const x = round(n * slot + slot * 0.15)
    const width = round(slot * 0.7)
    let under = 0
    const rects = parts.flatMap(part => {
      if (part.n === 0) return []
      under += part.n
      const size = round((part.n / top) * HEIGHT)
      return [
        html`<g><title>${part.says}</title><rect class="${part.kind}" x="${x}" y="${height(under, top)}" width="${width}" height="${size}"/></g>`,
      ]
    })
    if (rects.length === 0) return html``
    const whole = html`<rect x="${round(n * slot)}" y="0" width="${round(slot)}" height="${HEIGHT}" fill="none" pointer-events="all"/>`
    return html`<a href="${href}" tabindex="-1"><title>${says}</title>${whole}${rects}</a>`
  })
}

/** Days without a value break a line; one alone is a dash. */
function drawLines({ lines = [], top }: Plot): Html[] {
  return lines.flatMap(({ kind, values }) => {
    const slot = WIDTH / Math.max(1, values.length)
    const pieces: { x: number; y: number }[][] = []
    let piece: { x: number; y: number }[] = []
    for (const [n, value] of values.entries()) {
      if (value === undefined) {
        piece = []
        continue
      }
      if (piece.length === 0) pieces.push(piece)
      piece.push({ x: round(n * slot + slot / 2), y: height(value, top) })
    }
    return pieces.map(points => {
      const [only] = points
      const drawn =
        points.length === 1 && only !== undefined
          ? [
              { ...only, x: only.x - 2 },
              { ...only, x: only.x + 2 },
            ]
          : points
      return html`<polyline class="${kind}" points="${drawn.map(({ x, y }) => `${x},${y}`).join(' ')}"/>`
    })
  })
}

function height(value: number, top: number): number {
  return round(HEIGHT - (Math.min(value, top) / top) * HEIGHT)
}

function round(n: number): number {
  return Math.round(n * 10) / 10
}
