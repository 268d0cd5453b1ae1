import { z } from 'zod'
import { parseDuration } from './duration.ts'
import { type Glob, parseGlob } from './glob.ts'
import { words } from './words.ts'

/** A workflow as its file says it, with what it leaves out filled in. Times in milliseconds. */
export interface Workflow {
  /** The file's name in `.knotless/workflows/`, such as `test.yml`. */
  file: string
  /** What people and records call it: the file's name without its ending, unless it says otherwise. */
  name: string
  /** What it runs on; absent for what it does not run on. Branches that are absent are all. */
  on: { pull?: Trigger | undefined; push?: Trigger | undefined }
  /** A pre-flight (PRE-1). */
  first: boolean
  image?: string | undefined
  timeout?: number | undefined
  retries: number
  secrets: readonly string[]
  supersede: 'cancel' | 'finish'
  /** It is skipped when none of these changed; absent: it never is. */
  paths?: readonly Glob[] | undefined
  cache: readonly string[]
  network: boolean
  /** A pattern of paths of JUnit XML. */
  report?: string | undefined
  steps: readonly { run: string }[]
}

export interface Trigger {
  branches?: readonly Glob[] | undefined
}

const bounds = { name: 255, image: 500, retries: 10, list: 50, path: 500, steps: 100, script: 32_768 } as const

const line = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine(text => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), words.oneLine())

const list = <T extends z.ZodType>(of: T) => z.array(of).min(1).max(bounds.list)

const pattern = z.string().transform((text, ctx): Glob => {
  const read = parseGlob(text)
  if (read.ok) return read.glob
  ctx.addIssue({ code: 'custom', message: words.badPattern(text, read.fault) })
  return z.NEVER
})

/** What stands in a name of a branch, and in no pattern of one. */
const noBranch = /[\s~^:\\]|\.\.|@\{|\.lock(\/|$)/

const branchPattern = z
  .string()
  .refine(text => !text.startsWith('refs/'), words.withoutRefs())
  .refine(text => !noBranch.test(text.replace(/\[[!^]/g, '[')), words.noBranchHasThat())
  .pipe(pattern)

const duration = z.string().transform((text, ctx): number => {
  const ms = parseDuration(text)
  if (ms !== undefined && ms > 0) return ms
  ctx.addIssue({ code: 'custom', message: words.badDuration() })
  return z.NEVER
})

const folder = line(bounds.path).refine(path => !path.split('/').includes('..'), words.leavesFolder())

/** `pull:` with nothing after it means all branches. */
const trigger = z
  .strictObject({ branches: list(branchPattern).optional() })
  .nullable()
  .transform((value): Trigger => value ?? {})

/** What a workflow file may say; all else is a fault. */
export const workflowShape = z.strictObject({
  name: line(bounds.name).optional(),
  on: z
    .strictObject({ pull: trigger.optional(), push: trigger.optional() })
    .refine(on => on.pull !== undefined || on.push !== undefined, words.runsOnNothing()),
  queue: z.literal('first').optional(),
  image: line(bounds.image).regex(/^\S+$/, words.badImage()).optional(),
  timeout: duration.optional(),
  retries: z.number().int().min(0).max(bounds.retries).default(0),
  secrets: list(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, words.badSecret())).default([]),
  supersede: z.enum(['cancel', 'finish']).default('cancel'),
  paths: list(pattern).optional(),
  cache: list(folder).default([]),
  network: z.boolean().default(false),
  report: folder.optional(),
  steps: z
    .array(
      z.strictObject({
        run: z
          .string()
          .min(1)
          .max(bounds.script)
          .refine(text => !text.includes('\0'), words.oneLine()),
      }),
    )
    .min(1)
    .max(bounds.steps),
})
