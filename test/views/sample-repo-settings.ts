import * as words from '../../src/queue/words/repo-settings.ts'
import * as says from '../../src/queue/words/repo-settings-page.ts'
import type { RepoSettingsPage } from '../../src/views/models.ts'
import type { PageModels } from '../../src/views/render.ts'
import { alice, bob, carol, frame, gardener, hostile, minutesAgo, nameless, now, orchard, pull, runner } from './sample.ts'

const cid = 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
const right = { says: says.rightWords('pds.example'), host: 'pds.example', href: '/login/start?handle=alice.test&asks=repository&next=%2F' }

function page(more: Partial<RepoSettingsPage> = {}): RepoSettingsPage {
  return {
    frame: frame({ title: says.settingsTitle('alice.test/orchard'), description: says.settingsDescription }),
    repo: orchard,
    now: { cid, runner: runner.did, collaborator: bob.did, to: '' },
    sections: says.sections,
    general: {
      base: { cid, was: { wasDescription: '', wasBranch: 'main' } },
      description: '',
      defaultBranch: 'main',
      branches: ['main', 'release/1.0'],
    },
    runners: [
      {
        account: runner,
        question: says.removeQuestion('runner', runner.did),
        lands: true,
        seen: minutesAgo(1),
        how: 'isolated runs, knotless 0.1.0',
        below: nameless.did,
      },
      { account: nameless, question: says.removeQuestion('runner', nameless.did, true), lands: false, above: runner.did },
    ],
    collaborators: [bob, carol, gardener].map(account => ({ account, question: says.removeQuestion('collaborator', account.did) })),
    people: {
      runner: { cid, was: { was: runner.did } },
      collaborator: { cid, was: { was: bob.did } },
      typed: { runner: '', collaborator: '' },
    },
    former: [
      {
        account: carol,
        roles: ['collaborator', 'runner'],
        until: minutesAgo(60),
        isVoid: false,
        again: true,
        href: '/alice.test/orchard/settings/void',
      },
      { account: nameless, roles: [hostile.name], isVoid: true, again: false, href: '/' },
    ],
    protection: {
      base: { cid, was: {} },
      rows: [
        { branch: 'main', queueOnly: true, pinned: false, was: 'q-', doubled: true },
        { branch: 'release/1.0', queueOnly: false, pinned: true, was: '-p', doubled: false },
      ],
      added: { branch: '', queueOnly: true, pinned: false },
      doubled: says.doubled,
    },
    gateway: { base: { cid, was: { was: '' } }, choice: 'this', did: '', here: 'did:web:knotless.example', delegated: true },
    transfer: { base: { cid, was: { was: '' } }, typed: { handle: '', name: 'orchard' } },
    ...more,
  }
}

/** Repository settings in its states. */
export function repoSettingsPages(): Pick<
  { [N in keyof PageModels]: Record<string, PageModels[N]> },
  'repo-settings' | 'repo-settings-void' | 'repo-settings-accept'
> {
  const usual = page()
  const offer = { owner: alice.did, name: 'orchard' }
  return {
    'repo-settings': {
      'repo-settings': page({ said: { section: 'general', notice: { code: 'done', message: says.doneWords('general') ?? [] } } }),
      'repo-settings-bare': page({
        right,
        old: says.unreadNow,
        runners: [],
        collaborators: [],
        former: [],
        protection: { ...usual.protection, warning: says.noRunnerWarning(['main']) },
        gateway: { ...usual.gateway, choice: 'none', delegated: false },
        transfer: { ...usual.transfer, pending: says.pendingWords({ owner: bob.did, name: 'orchard' }, minutesAgo(5), now) },
      }),
      'repo-settings-kept': page({
        kept: { form: 'add-runner', verb: 'Add runner', what: says.keptWords('Add runner'), sent: { handle: hostile.attribute } },
      }),
      'repo-settings-hostile': page({
        right: { ...right, refused: words.rightRefused('denied') },
        said: { section: 'runners', refused: words.notFound('Not added', { code: 'nobody-found', message: hostile.script }) },
        general: { ...usual.general, description: hostile.long, branches: [hostile.name, hostile.attribute] },
        people: { ...usual.people, typed: { runner: hostile.attribute, collaborator: hostile.script } },
        protection: {
          ...usual.protection,
          rows: [{ branch: hostile.name, queueOnly: true, pinned: true, was: 'qp', doubled: true }],
          added: { branch: hostile.attribute, queueOnly: false, pinned: false },
        },
        gateway: { ...usual.gateway, choice: 'other', did: hostile.attribute },
        transfer: { ...usual.transfer, typed: { handle: hostile.script, name: hostile.attribute } },
      }),
    },
    'repo-settings-void': {
      'repo-settings-void': {
        frame: frame(),
        repo: orchard,
        account: carol,
        says: says.voidWords(carol.did, [{ title: hostile.script, pull: pull('x').uri }], 3),
        base: { cid, was: { did: carol.did, was: '' } },
      },
    },
    'repo-settings-accept': {
      'repo-settings-accept': {
        frame: frame(),
        repo: orchard,
        says: says.offeredWords(offer, { owner: bob.did, name: 'orchard' }),
        refused: words.delegateFirst(),
        delegate: says.delegateWords,
      },
      'repo-settings-accept-right': { frame: frame(), repo: orchard, says: says.offeredWords(offer, offer), right },
    },
  }
}
