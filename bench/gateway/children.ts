/** Peers that start processes of their own: in a program apart, since starting one takes the longer the more memory the starter has. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { z } from 'zod'

const answerShape = z.object({
  ms: z.number().optional(),
  figures: z.unknown().optional(),
  error: z.string().optional(),
  ready: z.boolean().optional(),
})
export type ChildAnswer = z.infer<typeof answerShape>

export interface Child {
  ask(message: object): Promise<ChildAnswer>
  stop(): Promise<void>
}

/** Starts a script of this folder, with these flags of Node, and waits until it says that it is ready. */
export async function startChild(script: string, args: readonly string[], execArgv: readonly string[] = []): Promise<Child> {
  const child = fork(join(import.meta.dirname, script), [...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [...execArgv],
  })
  const exited = once(child, 'exit')
  await answerOf(child, exited)
  return {
    async ask(message) {
      const answer = answerOf(child, exited)
      child.send(message)
      return await answer
    },
    async stop() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}

async function answerOf(child: ChildProcess, exited: Promise<unknown>): Promise<ChildAnswer> {
  const ended = exited.then(() => Promise.reject(new Error('the program ended')))
  const [answer] = await Promise.race([once(child, 'message'), ended])
  const parsed = answerShape.parse(answer)
  if (parsed.error !== undefined) throw new Error(parsed.error)
  return parsed
}
