import type { Frame } from './frame.ts'
import type { Account, Instant, LabelLine, Words } from './words.ts'

/** The page of one record as this server knows it. */
export interface RecordPage {
  frame: Frame
  kind: string
  says: Words
  /** Whether it counts, of records that may count or not. */
  counts?: { label: LabelLine; says: Words } | undefined
  account: Account
  uri: string
  cid: string
  seenAt: Instant
  /** The time that its key says. */
  keyTime?: Instant | undefined
  /** Address of the same at the account's own server. */
  source?: { host: string; href: string } | undefined
  /** Pages here that it is about. */
  about: readonly { word: string; title: string; href: string }[]
  /** The record, laid out. */
  json: string
  /** There is more of it than is shown. */
  cut: boolean
}
