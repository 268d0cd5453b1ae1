/** Names of refs: full names in records and mirrors, short branch names everywhere a person sees them. */

const heads = 'refs/heads/'
const longest = 255

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const forbidden = /[\x00-\x20\x7f~^:?*[\\]/

/** Whether `name` is a full ref name that git and this project take: `refs/heads/…` or `refs/tags/…`, at most 255 bytes, as its lexicon counts (STO-11). */
export function isRefName(name: string): boolean {
  return (
    /^refs\/(heads|tags)\//.test(name) &&
    Buffer.byteLength(name) <= longest &&
    name.split('/').every(part => part !== '' && !part.startsWith('.') && !part.endsWith('.lock')) &&
    !name.includes('..') &&
    !name.includes('@{') &&
    !name.endsWith('.') &&
    !forbidden.test(name)
  )
}

/** The full ref name of a branch. */
export function refName(branch: string): string {
  return heads + branch
}

/** The branch that a full ref name names; undefined for tags and anything else. */
export function branchName(ref: string): string | undefined {
  return ref.startsWith(heads) ? ref.slice(heads.length) : undefined
}

/** Whether `text` is a full object id: 40 lower-case hex digits, not all zero. */
export function isCommitId(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text) && !/^0+$/.test(text)
}
