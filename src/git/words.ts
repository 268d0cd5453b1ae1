/** Every sentence that a refusal of this folder says, in one place. None of them holds a path of the machine or a word that git printed unread. */

const megabytes = (bytes: number) => `${Math.floor(bytes / 2 ** 20).toLocaleString('en')} MiB`
const count = (n: number) => n.toLocaleString('en')

const packOf = (id?: string) => (id === undefined ? 'the pack' : `pack ${id}`)
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Text of an unknown writer, made fit for one line of a message: controls as spaces, at most `max` characters. */
export function quoted(text: string, max = 120): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
  return clean.length > max ? `${clean.slice(0, max)}…` : clean
}

export const words = {
  noGit: () => 'git is not installed, or does not run.',
  oldGit: (version: string) => `git ${version} is too old: 2.38 or later is needed.`,
  gitFailed: (what: string) => `git could not ${what}.`,

  notARecord: (what: string) => `The refs record is not one: ${what}.`,
  otherRepository: () => 'The refs record names another repository.',
  tooManyRefs: (n: number, most: number) => `The refs record holds ${count(n)} refs; at most ${count(most)} are taken.`,
  tooManyParts: (n: number, most: number) => `The refs record lists ${count(n)} parts of packs; at most ${count(most)} are taken.`,
  recordTooBig: (bytes: number, most: number) => `The refs record has ${count(bytes)} bytes; at most ${count(most)} are taken.`,
  partTooBig: (bytes: number, most: number) => `A part of a pack is said to have ${count(bytes)} bytes; at most ${count(most)} are taken.`,
  packsTooBig: (most: number) => `The packs to fetch are larger than ${megabytes(most)} together.`,
  badRefName: (name: string) => `"${quoted(name)}" is no name for a branch or tag.`,
  badCommit: (name: string) => `"${quoted(name)}" is not at a commit: its id is not 40 hex digits.`,
  doubleRef: (name: string) => `"${quoted(name)}" is listed twice.`,
  nestedRef: (name: string, inside: string) =>
    `"${quoted(inside)}" and "${quoted(name)}" cannot both be there: one is the folder of the other.`,
  refMissing: (name: string, commit: string) => `"${quoted(name)}" is at ${commit}, which no pack of the repository holds.`,
  refNoCommit: (name: string, commit: string, type: string) => `"${quoted(name)}" is at ${commit}, which is a ${type} and not a commit.`,

  blobMissing: (id: string) => `A part of pack ${id} is not there any more.`,
  blobFailed: (id: string) => `A part of pack ${id} could not be read from the account's server.`,
  blobStalled: (id: string) => `A part of pack ${id} stopped coming from the account's server.`,
  blobSlow: (id: string) => `A part of pack ${id} comes too slowly from the account's server.`,
  blobWrongHash: (id: string) => `A part of pack ${id} is not what its address says: the hash differs.`,
  blobWrongSize: (id: string) => `A part of pack ${id} has another size than the record says.`,
  packHeader: (id: string) => `Pack ${id} is no pack of the size and count that the record says.`,
  packTrailer: (id: string) => `Pack ${id} ends in another checksum than its name.`,
  packRefused: (id: string | undefined, why: string) => `git refuses ${packOf(id)}: ${why}.`,
  packLinks: (id?: string) => `${capital(packOf(id))} leads to objects that the repository does not hold.`,
  packNotHere: (id: string) => `The mirror does not hold pack ${id} yet: bring it up to date first.`,
  packBomb: (id?: string) => `${capital(packOf(id))} needs more memory or time to unpack than is given to it.`,
  objectTooBig: (oid: string, bytes: number, most: number, path?: string) =>
    `${path === undefined ? `Object ${oid}` : `"${quoted(path)}" (${oid})`} has ${megabytes(bytes)}; at most ${megabytes(most)} are taken.`,
  recordUnread: () => "The refs record could not be read from the account's server.",
  noRecord: () => 'The repository has no refs record: nothing was pushed to it yet.',
  broken: () => 'The repository is broken: its record names packs that are not there, read after read.',
  syncTimeout: () => 'Bringing the mirror up to date took too long.',

  fileTooBig: (path: string, most: number) => `"${quoted(path)}" is larger than ${count(most)} bytes.`,
  missingCommit: (commit: string) => `Commit ${quoted(commit, 40)} is not there.`,
  noHead: () => 'The branch that holds the head is not there.',
  unrelated: () => 'The two branches have no history in common.',
  tooDeep: (most: number) => `The branch holds folders nested deeper than ${count(most)}.`,
  tooManyEntries: (most: number) => `The branch changes more than ${count(most)} files and folders.`,
  pathTooLong: (most: number) => `The branch holds a path longer than ${count(most)} bytes.`,
  nameTooLong: (most: number) => `The branch holds a file name longer than ${count(most)} bytes.`,
  tooManyFaults: () => 'Too many of the branches hold more than is taken: this one was not looked at.',
  mergeTooBig: () => 'Merging the branch needs more memory or time than is given to it.',

  archiveTooBig: (most: number) => `The files come to more than ${megabytes(most)}.`,
  archiveTooSlow: () => 'Handing out the files took too long.',

  tooManyPairs: (most: number) => `More than ${count(most)} merges were asked for at once.`,

  tooManyChanges: (most: number) => `More than ${count(most)} files in one commit.`,
  changesTooBig: (most: number) => `The files of the commit come to more than ${megabytes(most)}.`,
  tooManyFiles: (most: number) => `The branch holds more than ${count(most)} files and folders, or nests them deeper than git can follow.`,
  badPath: (path: string) => `"${quoted(path)}" is no path that a commit may hold.`,
  badPathLong: (most: number) => `A path may have ${count(most)} bytes.`,
  pathsRefused: () => 'git refuses one of the paths.',
  pathTwice: (path: string) => `"${quoted(path)}" is changed twice.`,
  fileAndFolder: (path: string) => `"${quoted(path)}" would be a file and a folder.`,
  fileInTheWay: (path: string) => `"${quoted(path)}" is a file: delete it first to put files into a folder of that name.`,
  folderInTheWay: (path: string) => `"${quoted(path)}" is a folder: delete the files in it first to put a file there.`,
  noSuchFile: (path: string) => `There is no file "${quoted(path)}" to delete.`,

  diffTooBig: () => 'Comparing the branches needs more memory or time than is given to it.',

  unknownAuthor: () => 'unknown',
  untitled: () => 'Untitled pull',

  notARepository: () => 'The directory is no git repository with SHA-1 objects.',
  shallow: () => 'The repository is a shallow clone: fetch its whole history first (git fetch --unshallow).',
  missingObjects: () => 'The repository lacks objects of its own history.',
  uploadCutOff: () => 'The push broke off before its pack had come.',
  badRequest: () => 'This is no request of git push.',
  signedPush: () => 'Signed pushes are not taken: push without --signed.',
  pushOptions: () => 'Push options are not taken: push without --push-option.',
  tooManyUpdates: (most: number) => `More than ${count(most)} refs in one push.`,
  branchMoved: (name: string) => `"${quoted(name)}" moved meanwhile: fetch, look and push again.`,
  forceRefused: (name: string) => `"${quoted(name)}" would not be moved forward but replaced: fetch and merge first, or force it.`,
  pushRefused: () => 'The push may not be made.',
  packTooBig: (most: number) => `The push holds more than ${megabytes(most)}.`,
  partRefused: (bytes: number) => `The account's server takes no part of ${count(bytes)} bytes.`,
  uploadFailed: () => "The account's server answered an upload with another blob than was sent.",
  unsettled: () => "The account's server did not say whether the push was made, and could not be asked.",
  busy: (tries: number) => `The record was changed by others ${count(tries)} times in a row: try again.`,
} as const
