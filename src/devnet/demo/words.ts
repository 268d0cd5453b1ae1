import { join } from 'node:path'
import { handles } from '../samples/people.ts'
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
  noRunner: 'No runner is part of the demo yet: what is queued waits.',
  idleFlags: (flags: readonly string[]) => `Of no effect yet, since the runner is not part of the demo: ${flags.join(', ')}.`,
  delegated: (server: string) =>
    `alice.test lets the server write for her, by a grant of two weeks that each start renews: ${server}/settings shows it and takes it back.`,
  notDelegated: (server: string) =>
    `alice.test has to let the server write for her before anything can be queued or merged: ${server}/settings.`,
  delegationFailed: (why: string) => `The delegation of alice.test did not come about (${why}); give it on the settings page.`,
  folderHeld: (path: string) => `Another demo runs on ${path}: stop it, or take another folder with --data.`,
  serverUnstarted: (why: string) => `The server could not be started: ${why}`,
  serverEnded: (how: string, logPath: string, last: string) =>
    `The server ended (${how}); its log is ${logPath}${last === '' ? '' : `:\n${last}`}`,
  serverUnready: (seconds: number, last: string, logPath: string) =>
    `The server was not ready after ${seconds} s (${last}); its log is ${logPath}`,
  welcome,
}

function welcome(file: NetworkFile, dataDir: string): string {
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
    ...(orchard === undefined ? [] : tries(file)),
    `Addresses and passwords for programs: ${join(dataDir, 'network.json')}`,
  ].join('\n')
}

function tries(file: NetworkFile): string[] {
  return [
    'Try:',
    '  As bob.test, open two pulls and add each to the merge queue: 1st and 2nd of 2. Take the first out again.',
    '  Open “Rootstocks: say how high they grow, in feet”: it cannot be added, and its box names the file that conflicts.',
    '  As mallory.test, open any of them: its box says who may add it.',
    `  ${file.server}/${handles.alice}/almanac names no runner: its pull is merged by hand.`,
    '',
  ]
}
