import { flushPkt, pktLine } from '../../git/pkt-line.ts'

/** What is understood of the protocol of pushes (receive-pack); options are not, and git says so by itself. */
const capabilities = [
  'report-status',
  'report-status-v2',
  'delete-refs',
  'side-band-64k',
  'quiet',
  'atomic',
  'ofs-delta',
  'object-format=sha1',
]

const noObject = '0'.repeat(40)

/** Where a repository's refs are, as git is told before it pushes: `refs` in any order, `version` of this program. */
export function pushAdvertisement(refs: readonly { name: string; commit: string }[], version: string): Buffer {
  const can = [...capabilities, `agent=knotless/${version}`].join(' ')
  const sorted = refs.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, commit }) => `${commit} ${name}`)
  const [first = `${noObject} capabilities^{}`, ...others] = sorted
  const lines = [`${first}\0${can}`, ...others].map(line => pktLine(`${line}\n`))
  return Buffer.concat([pktLine('# service=git-receive-pack\n'), flushPkt, ...lines, flushPkt])
}
