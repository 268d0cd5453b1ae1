import { join, resolve } from 'node:path'
import { handles } from '../samples/people.ts'
import type { ChosenExecutor } from './executor.ts'
import type { NetworkFile } from './network-file.ts'

const roles: Record<string, string> = {
  alice: 'owns the repositories',
  bob: 'is a collaborator',
  carol: 'opens pulls from a fork',
  mallory: 'is a stranger',
  runner: 'is the named runner',
}

/** Every word that the demo says on the terminal. */
export const words = {
  starting: 'Starting a local network, a server and accounts …',
  stopping: 'Stopping …',
  broke: 'The demo broke.',
  howToStop: 'Ctrl-C stops everything. A second start finds it as it was; --reset begins afresh.',
  notIndexed: 'The server has not read the sample repositories yet; its pages fill by themselves.',
  withoutRunner: 'Without a runner what is queued waits.',
  runs(executor: ChosenExecutor, logPath: string): string {
    const where =
      executor.kind === 'docker' ? `in containers${executor.image === undefined ? '' : ` of ${executor.image}`}` : 'on this machine'
    return `runner.test lands what is queued in the orchard, and runs its checks ${where}; its log is ${logPath}.`
  },
  /** WHO-5. */
  notIsolated(why: 'no-engine' | 'no-image' | undefined): string {
    const since =
      why === 'no-engine'
        ? ', since no container engine answers'
        : why === 'no-image'
          ? ', since the container engine that answers has no image in which they can run (--executor docker fetches one)'
          : ''
    return `Those checks are not isolated${since}: they may do whatever you may, and every author is trusted. Queue nothing there that you did not read.`
  },
  runnerUnstarted: (why: string) => `The runner could not be started: ${why}`,
  runnerEnded: (how: string, logPath: string, last: string) =>
    `The runner ended (${how}); its log is ${logPath}${last === '' ? '' : `:\n${last}`}`,
  runnerGone: 'What is queued waits until a second start; everything else goes on.',
  runnerSlow: (seconds: number, logPath: string) =>
    `The runner has not gone through the orchard after ${seconds} s; it goes on trying, and its log is ${logPath}.`,
  delegated: (server: string) =>
    `alice.test lets the server write for her, by a grant of two weeks that each start renews: ${server}/settings shows it and takes it back.`,
  notDelegated: (server: string) =>
    `Until alice.test gives the delegation on ${server}/settings, nothing can be queued in her orchard, merged or pushed.`,
  delegationFailed: (why: string) => `The delegation of alice.test did not come about (${why}); give it on her settings page.`,
  folderHeld: (path: string) => `Another demo runs on ${path}: stop it, or take another folder with --data.`,
  serverUnstarted: (why: string) => `The server could not be started: ${why}`,
  serverEnded: (how: string, logPath: string, last: string) =>
    `The server ended (${how}); its log is ${logPath}${last === '' ? '' : `:\n${last}`}`,
  serverUnready: (seconds: number, last: string, logPath: string) =>
    `The server was not ready after ${seconds} s (${last}); its log is ${logPath}`,
  welcome,
}

interface Offered {
  /** Alice is still to give the delegation. */
  delegating: boolean
  /** How long the runner lets a batch fill; undefined without a runner. */
  wait?: string | undefined
}

function welcome(file: NetworkFile, dataDir: string, offered: Offered): string {
  const orchard = file.repos.find(repo => repo.name === 'orchard')
  const people = Object.entries(file.accounts).map(
    ([name, { handle, password }]) => `  ${handle.padEnd(13)} ${password.padEnd(18)} ${roles[name] ?? ''}`,
  )
  return [
    '',
    ...(orchard === undefined
      ? [`The server: ${file.server}`]
      : [
          `The queue:  ${file.server}/${handles.alice}/orchard/queue/main`,
          `The code:   git clone ${file.server}/${handles.alice}/orchard.git`,
        ]),
    '',
    'Log in there with a handle. The password goes to the account’s own server:',
    ...people,
    '',
    ...(orchard === undefined ? [] : tries(file, dataDir, offered)),
    `Addresses and passwords for programs: ${join(dataDir, 'network.json')}`,
  ].join('\n')
}

/** The credential helper for bob's pushes, as one word of an interactive shell, in which an exclamation mark is safe in single quotes only. */
function helper(dataDir: string): string {
  const root = resolve(import.meta.dirname, '../../..')
  const words = [join(root, 'scripts/with-node.sh'), join(root, 'src/cli/main.ts')]
  const command = `!sh ${words.map(quoted).join(' ')} git-credential --network ${quoted(resolve(dataDir, 'network.json'))} --as ${handles.bob}`
  return `'${command.replaceAll("'", "'\\''")}'`
}

function quoted(path: string): string {
  return `"${path.replace(/["\\$`]/g, '\\$&')}"`
}

/** The delegation comes first, since nothing else works without; what a runner does is tried with one alone. */
function tries(file: NetworkFile, dataDir: string, { delegating, wait }: Offered): string[] {
  const fills =
    wait === undefined || /^0*[a-z]*$/.test(wait) ? '' : ` (a batch waits ${wait.replace(/(?<=\d)(?=[a-z])/, ' ')} for more to join it)`
  return [
    'Try:',
    ...(delegating ? [`  As alice.test, give the delegation on ${file.server}/settings: the rest is refused until then.`] : []),
    ...(wait !== undefined
      ? [
          `  As bob.test, add these to the merge queue, one after the other, and watch its page${fills}:`,
          '    “Label trees by variety as well as by number” and “Warn of frost from two degrees down” land; the first closes the issue.',
          '    “Show harvest weights in pounds …” is ejected by its pre-flight, with the log one click away.',
          '    “Rename spacing_of to spacing_dm” and “Plan hedges …” pass alone and fail together: halving finds the second.',
          '  Add both pulls about water: they are in conflict, and the second is ejected, naming the first.',
        ]
      : ['  As bob.test, add pulls to the merge queue: their boxes and its page say what they wait for.']),
    '  Open “Rootstocks: say how high they grow, in feet”: it cannot be added, and its box names the file that conflicts.',
    '  As mallory.test, open any of them: its box says who may add it.',
    `  As bob.test, merge the pull of ${file.server}/${handles.alice}/almanac, which names no runner: the button is on its page.`,
    `  As alice.test, let main take pulls only through the queue, on ${file.server}/${handles.alice}/orchard/settings; then push as bob.test.`,
    `  Commit something in a clone and push it as bob.test: git -c credential.helper=${helper(dataDir)} push`,
    `  As alice.test, withdraw the delegation on ${file.server}/settings: whoever merges or queues is told that, and where she gives it.`,
    '',
  ]
}
