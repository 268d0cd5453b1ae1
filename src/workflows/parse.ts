import type { z } from 'zod'
import { words } from './words.ts'
import { type Workflow, workflowShape } from './workflow.ts'
import { type Path, readYaml } from './yaml-text.ts'

/** A file as a commit has it: its name in `.knotless/workflows/`, and its bytes, or that they were not read since there are too many. */
export interface WorkflowFile {
  file: string
  bytes: Uint8Array | 'too-large'
}

/** Why a file cannot be used, and where in it: a line counted from 1, a key such as `on.pull.branches[0]`. */
export interface WorkflowFault {
  file: string
  line?: number | undefined
  key?: string | undefined
  message: string
}

/** The folder of workflow files, with a slash at its end. */
export const workflowFolder = '.knotless/workflows/'

/** Reads one workflow file. A fault is a verdict: its run is an `error` (CHK-6). Never throws for what a file holds. */
export function parseWorkflow({ file, bytes }: WorkflowFile): { ok: true; workflow: Workflow } | { ok: false; fault: WorkflowFault } {
  if (file.length > 200 || /[\p{Cc}\p{Zl}\p{Zp}\ufffd]/u.test(file)) return { ok: false, fault: { file, message: words.badFileName() } }
  const text = readYaml(bytes)
  if (!text.ok) {
    const { line, key, message } = text
    return { ok: false, fault: { file, line, key, message } }
  }
  const parsed = workflowShape.safeParse(text.value, { reportInput: true })
  if (parsed.success) return { ok: true, workflow: workflowOf(file, parsed.data) }
  const { issues } = parsed.error
  // A key that is mistyped is also missing; what is there says more than what is not.
  const issue = issues.find(one => one.code === 'unrecognized_keys') ?? issues[0]
  if (issue === undefined) return { ok: false, fault: { file, message: words.other() } }
  const { path, key, message } = faultOf(issue)
  const name = keyName(key === undefined ? path : [...path, key])
  return { ok: false, fault: { file, line: text.lineOf(path, key), ...(name === '' ? {} : { key: name }), message } }
}

/** A fault as one line for people: the file with its folder, line, key and what is wrong. */
export function faultText(fault: WorkflowFault): string {
  return words.fault({ ...fault, file: workflowFolder + fault.file })
}

function workflowOf(file: string, said: z.output<typeof workflowShape>): Workflow {
  const { queue, name = file.replace(/\.ya?ml$/, ''), ...rest } = said
  return { ...rest, file, name, first: queue === 'first' }
}

function faultOf(issue: z.core.$ZodIssue): { path: Path; key?: string | undefined; message: string } {
  const { path } = issue
  switch (issue.code) {
    case 'unrecognized_keys': {
      const [key = ''] = issue.keys
      return { path, key, message: words.unknownKey() }
    }
    case 'invalid_type':
      return { path, message: typeMessage(issue) }
    case 'invalid_value':
      return { path, message: words.oneOf(issue.values.map(String)) }
    case 'too_big':
      return { path, message: words.atMost(Number(issue.maximum), unitOf(issue.origin)) }
    case 'too_small':
      return {
        path,
        message: Number(issue.minimum) === 1 ? words.emptyValue() : words.atLeast(Number(issue.minimum), unitOf(issue.origin)),
      }
    case 'custom':
    case 'invalid_format':
      return { path, message: issue.message }
    default:
      return { path, message: words.other() }
  }
}

function typeMessage(issue: z.core.$ZodIssueInvalidType): string {
  if (issue.path.length === 0) return words.empty()
  if (issue.input === undefined) return words.missing()
  const wanted: Readonly<Record<string, string>> = {
    string: 'text',
    array: 'a list',
    object: 'keys with values',
    boolean: 'true or false',
    number: 'a number',
    int: 'a whole number',
  }
  return words.wanted(wanted[issue.expected] ?? 'something else')
}

function unitOf(origin: string): string {
  return origin === 'string' ? ' characters long' : origin === 'array' ? ' long' : ''
}

/** `on.pull.branches[0]` */
function keyName(path: Path): string {
  return path.reduce<string>((name, step) => (typeof step === 'number' ? `${name}[${step}]` : `${name}${name && '.'}${String(step)}`), '')
}
