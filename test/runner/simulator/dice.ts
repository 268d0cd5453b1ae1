/** Numbers that look random and are the same for the same seed (mulberry32). */
export class Dice {
  #state: number

  /** `seed`: any integer; its low 32 bits count. */
  constructor(seed: number) {
    this.#state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) >>> 0
  }

  /** An integer from 0 to 2^32 - 1. */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }

  /** An integer from 0 to `n` - 1. */
  below(n: number): number {
    return Math.floor((this.roll() / 0x1_0000_0000) * n)
  }

  /** True with this probability. */
  chance(p: number): boolean {
    return this.roll() < p * 0x1_0000_0000
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)]
  }
}
