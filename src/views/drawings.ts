import { Html } from './html.ts'

const most = 24

/**
 * Where a pull is in its queue: ring, beads in flight, beads that wait, the big bead is this one. Places are counted from 1. Over 24
 * pulls the strip stops and the words beside it go on. Hidden from screen readers, since the headline says the same.
 */
export function placeStrip(place: { position: number; length: number; flying: readonly number[] }): Html {
  const beads = Math.min(Math.max(place.length, place.position), most)
  const me = Math.min(place.position, beads)
  const end = 18 + beads * 18
  const width = end + 16
  const cord = `d="M10 12H${end + 8}"`
  let drawn = `<path class="o" ${cord}/><path class="f" ${cord}/><path class="t" ${cord} stroke-dasharray="2 4"/>`
  drawn += '<circle class="h" cx="12" cy="12" r="7"/>'
  for (let bead = 1; bead <= beads; bead++) {
    if (bead === me) continue
    drawn += `<circle class="${place.flying.includes(bead) ? 'fly' : 'bd'}" cx="${18 + bead * 18}" cy="12" r="5"/>`
  }
  drawn += `<circle class="me" cx="${18 + me * 18}" cy="12" r="8"/>`
  return new Html(`<svg class="place" viewBox="0 0 ${width} 24" width="${width}" height="24" aria-hidden="true">${drawn}</svg>`)
}
