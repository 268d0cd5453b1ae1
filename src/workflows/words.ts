/** Every sentence that a fault of a workflow file says, in one place. */
import type { GlobFault } from './glob.ts'

const count = (n: number) => n.toLocaleString('en')

/** Text of an unknown writer, made fit for one line: controls as spaces, at most 80 characters. */
function quoted(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
  return `"${clean.length > 80 ? `${clean.slice(0, 80)}…` : clean}"`
}

const patternFaults: Record<GlobFault, string> = {
  empty: 'it is empty',
  'too-long': 'it is longer than 250 characters',
  bracket: 'a bracket is not closed, or holds nothing that it could',
  brace: 'braces are closed and hold two or more alternatives, as in {a,b}',
  escape: 'a backslash has nothing after it',
  negated: 'it starts with !, and patterns only ever take in',
  folder: 'a part of it is empty, . or ..',
  extended: 'signs before a parenthesis are not known; braces are, as in {a,b}',
  control: 'it holds control characters',
  alternatives: 'its braces make more than 16 alternatives',
}

export const words = {
  tooBig: (most: number) => `It has more than ${count(most)} bytes.`,
  notUtf8: () => 'It is not UTF-8.',
  tooManyTokens: (most: number) => `It is more than a workflow needs: over ${count(most)} words and signs of YAML.`,
  tooManyAnchors: (most: number) => `It has more than ${count(most)} anchors and aliases.`,
  noTags: () => 'Tags (!) are not taken.',
  noDirectives: () => 'Directives (%) are not taken.',
  notYaml: (why: string) => `It is not YAML: ${why}.`,
  twoDocuments: () => 'It holds more than one document.',
  keyNoText: () => 'A key is not plain text.',
  tooDeep: () => 'It is nested too deeply.',
  empty: () => 'It says nothing: a workflow has at least "on" and "steps".',
  badAlias: () => 'An alias (*) stands for nothing, or for too much.',

  unknownKey: () => 'This key is not known.',
  missing: () => 'It is missing.',
  wanted: (what: string) => `It must be ${what}.`,
  oneOf: (values: readonly string[]) => `It must be ${values.join(' or ')}.`,
  emptyValue: () => 'It is empty.',
  atMost: (n: number, what: string) => `It must be at most ${count(n)}${what}.`,
  atLeast: (n: number, what: string) => `It must be at least ${count(n)}${what}.`,
  other: () => 'It cannot be used.',

  oneLine: () => 'It must be text without control characters.',
  badPattern: (pattern: string, fault: GlobFault) => `The pattern ${quoted(pattern)} cannot be used: ${patternFaults[fault]}.`,
  withoutRefs: () => 'Branches are named without refs/heads/.',
  noBranchHasThat: () => 'No branch can have a name that it matches.',
  badDuration: () => 'It must be a time such as 90s, 45m or 1h30m, at most a week.',
  badImage: () => 'An image has no spaces in its name.',
  badSecret: () => 'A secret is named as a variable is: letters, digits and _.',
  leavesFolder: () => 'It may not lead out of its folder.',
  runsOnNothing: () => 'It runs on nothing: "pull" or "push" is missing.',
  sameName: (file: string, name: string) => `It is named ${quoted(name)}, as ${file} is: runs are told apart by the name.`,
  tooManyFiles: (most: number) => `There are more than ${count(most)} workflow files.`,
  tooManyBytes: (most: number) => `The workflow files have more than ${count(most)} bytes together.`,
  badFileName: () => 'Its name is not UTF-8, holds control characters or is longer than 200 characters.',
  folder: () => 'workflow files',

  /** What stands where a run would. */
  notRun: () => 'not run',
  otherFiles: () => 'reused, but not from the lander’s own pass of the same files',
  unusable: (fault: { line?: number | undefined; key?: string | undefined; message: string }) =>
    `cannot be used: ${place(fault).concat(fault.message.replace(/\.$/, '')).join(', ')}`,

  /** A fault as one line: where, then what. */
  fault: (at: { file: string; line?: number | undefined; key?: string | undefined; message: string }) =>
    `${[at.file, ...place(at)].join(', ')}: ${at.message}`,
}

function place(at: { line?: number | undefined; key?: string | undefined }): string[] {
  return [...(at.line === undefined ? [] : [`line ${at.line}`]), ...(at.key === undefined ? [] : [quoted(at.key)])]
}
