/** Addresses in records: always with a DID, in one spelling (REC-12). */
const did = '(did:plc:[a-z2-7]{24}|did:web:[A-Za-z0-9._%-]{1,245})'
const DID = new RegExp(`^${did}$`)
const KEY = /^[A-Za-z0-9._:~-]{1,512}$/
const REPO = new RegExp(`^at://${did}/dev\\.knotless\\.repo/([A-Za-z0-9._:~-]{1,512})$`)
const TID = '[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}'
const PULL = new RegExp(`^at://${did}/dev\\.knotless\\.pull/${TID}$`)
const ISSUE = new RegExp(`^at://${did}/dev\\.knotless\\.issue/${TID}$`)

/** An account's DID, of the methods that accounts use. */
export function isDid(value: string): boolean {
  return DID.test(value)
}

export function isRecordKey(value: string): boolean {
  return KEY.test(value) && value !== '.' && value !== '..'
}

export function isRepoUri(value: string): boolean {
  return REPO.test(value)
}

export function isPullUri(value: string): boolean {
  return PULL.test(value)
}

export function isPullOrIssueUri(value: string): boolean {
  return PULL.test(value) || ISSUE.test(value)
}

/** The account and the name in a repository's address; undefined for another text. */
export function repoParts(uri: string): { did: string; name: string } | undefined {
  const [, owner, name] = REPO.exec(uri) ?? []
  return owner === undefined || name === undefined ? undefined : { did: owner, name }
}
