import type { Words } from '../../views/models.ts'

/** What was looked for and is not there, and what to do about it, as the 404 page says it. */
export const lookedFor = {
  repository: (owner: string, name: string): Words =>
    `There is no repository ${shown(owner)}/${shown(name)} here. Check the spelling, or ask its owner whether it moved.`,
  pull: (author: string, key: string): Words => `There is no pull ${shown(key)} by ${shown(author)} here. Its author may have deleted it.`,
  record: (): Words => 'There is no record at this address, as far as this server knows. Its writer may have deleted it.',
  batch: (tip: string): Words => `There is no batch ${shown(tip)} here. Of old batches only those that landed are known by their tip.`,
  check: (runner: string): Words => `There is no such run by ${shown(runner)} here. Old runs are cleared away by their runner.`,
}

/** A part of an address, bounded and on one line. */
function shown(text: string): string {
  const clean = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return clean.length > 120 ? `${clean.slice(0, 120)}…` : clean
}
