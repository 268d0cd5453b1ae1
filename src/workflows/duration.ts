const units = { s: 1000, m: 60_000, h: 3_600_000 } as const
const shape = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/

/** Milliseconds of a duration as people write it: `90s`, `45m`, `1h30m`. Undefined for anything else, and over a week. */
export function parseDuration(text: string): number | undefined {
  const found = shape.exec(text)
  if (found === null || text === '') return undefined
  const [, hours = '0', minutes = '0', seconds = '0'] = found
  const ms = Number(hours) * units.h + Number(minutes) * units.m + Number(seconds) * units.s
  return ms <= 7 * 24 * units.h ? ms : undefined
}
