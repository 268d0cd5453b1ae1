import assert from 'node:assert/strict'
import { faultText, parseWorkflow, type WorkflowFault, type WorkflowFile } from '../../src/workflows/parse.ts'
import type { Workflow } from '../../src/workflows/workflow.ts'

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** The least that a workflow on pulls says, and more. */
export const least = 'on: {pull: {}}\nsteps: [{run: make}]\n'

export function fileOf(file: string, text: string): WorkflowFile {
  return { file, bytes: bytes(text) }
}

export function workflowOf(text: string, file = 'test.yml'): Workflow {
  const read = parseWorkflow(fileOf(file, text))
  assert.ok(read.ok, read.ok ? '' : faultText(read.fault))
  return read.workflow
}

export function faultOf(text: string | Uint8Array, file = 'test.yml'): WorkflowFault {
  const read = parseWorkflow({ file, bytes: typeof text === 'string' ? bytes(text) : text })
  assert.ok(!read.ok, 'the file was taken')
  return read.fault
}
