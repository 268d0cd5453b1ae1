/** Encryption at rest: what is stored can be read with the secret only, and only in the row it was written for. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE = 12
const TAG = 16
const VERSION = 1

export interface Seal {
  /** Nonce, tag and ciphertext. `place` is what the bytes are bound to, such as table and key of the row. */
  close(place: string, text: string): Buffer
  /** The text; undefined when the bytes were made for another place, with another secret, or were changed. */
  open(place: string, bytes: Uint8Array): string | undefined
}

/** A key of 32 bytes for one purpose, from the configured secret. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'knotless', purpose, 32))
}

/** AES-256-GCM with a random nonce. */
export function createSeal(key: Uint8Array): Seal {
  return {
    close(place, text) {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG }).setAAD(Buffer.from(place))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body])
    },
    open(place, bytes) {
      if (bytes.length < 1 + NONCE + TAG || bytes[0] !== VERSION) return undefined
      const nonce = bytes.subarray(1, 1 + NONCE)
      const tag = bytes.subarray(1 + NONCE, 1 + NONCE + TAG)
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG }).setAAD(Buffer.from(place)).setAuthTag(tag)
      try {
        return Buffer.concat([decipher.update(bytes.subarray(1 + NONCE + TAG)), decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}
