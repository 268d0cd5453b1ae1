import { cpus, totalmem } from 'node:os'

/** One measured figure beside what it is held against. */
export interface Figure {
  name: string
  value: number
  unit: string
  /** The peer, or the limit, that it is held against. */
  against: string
  /** value / peer, or value / limit. */
  ratio: number
  /** The ratio that it may have at most; absent where the peer is there to compare with, and nothing is asked. */
  bound?: number | undefined
  ok: boolean
}

/** A figure that is better when smaller, against a peer of the same unit or against a limit. */
export function figure(name: string, value: number, unit: string, peer: { name: string; value: number }, bound?: number): Figure {
  const ratio = value / peer.value
  return {
    name,
    value,
    unit,
    against: `${peer.name} ${round(peer.value)} ${unit}`,
    ratio,
    bound,
    ok: bound === undefined || ratio <= bound,
  }
}

/** A figure that must not be over `limit`. */
export function limited(name: string, value: number, unit: string, limit: number): Figure {
  return figure(name, value, unit, { name: 'limit', value: limit }, 1)
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value below which the share `q` of the values lies. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

export function round(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100
}

export function machine(): string {
  const [cpu] = cpus()
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`
}

export function row(figure: Figure): string {
  const { name, value, unit, against, ratio, bound, ok } = figure
  return `| ${name} | ${round(value)} ${unit} | ${against} | ${round(ratio)} | ${bound ?? '–'} | ${ok ? 'yes' : '**no**'} |`
}

export const header = '| figure | value | against | ratio | at most | holds |\n|---|---|---|---|---|---|'
