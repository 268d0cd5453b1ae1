import { randomInt } from 'node:crypto'

const letters = 'abcdefghkmnpqrstuvwxyz23456789'

/** A password that a person can type: the account's first name and eight letters. */
export function easyPassword(name: string): string {
  const tail = Array.from({ length: 8 }, () => letters.charAt(randomInt(letters.length))).join('')
  return `${name}-${tail}`
}
