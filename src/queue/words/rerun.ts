/** Asking for runs again (RUN-6). */
import { code, type Phrase, repoName, say } from './phrase.ts'
import type { Refusal } from './refusals.ts'

/** What was just asked for. */
export function askedAgain(): { code: string; message: Phrase } {
  return { code: 'done', message: say`Asked for. A runner takes it up in its next pass, and the runs show here.` }
}

/** Before the first time: what their server asks them. */
export function rerunRight(host: string): Phrase {
  return say`To ask for runs here, let this server write ${code('dev.knotless.rerun')} records for you. ${host} asks you once; you come back to this page.`
}

/** What came of asking for that right. */
export function rerunRightRefused(why: string): { code: string; message: Phrase; advice: Phrase } {
  if (why === 'denied')
    return {
      code: 'denied',
      message: say`You denied the right to ask for runs, so nothing was asked for.`,
      advice: say`Continue again when you want to.`,
    }
  if (why === 'too-little')
    return {
      code: 'scope-missing',
      message: say`Your server did not grant the right to ask for runs, so nothing was asked for.`,
      advice: say`Continue again and leave it ticked.`,
    }
  return {
    code: 'upstream-failed',
    message: say`It did not work out at your server, so nothing was asked for.`,
    advice: say`Continue again.`,
  }
}

export function noRunnerToAsk(owner: string, name: string): Refusal {
  return {
    code: 'no-runners',
    message: say`Not run again: ${repoName(owner, name)} names no runner, so nobody would run it.`,
    advice: say`The owner can name a runner.`,
  }
}
