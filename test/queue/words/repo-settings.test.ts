import { test } from 'node:test'
import { plain } from '../../../src/queue/words/phrase.ts'
import * as words from '../../../src/queue/words/repo-settings.ts'
import * as says from '../../../src/queue/words/repo-settings-page.ts'

const NOW = Date.UTC(2026, 10, 30, 14, 32)
const handles: Readonly<Record<string, string>> = { 'did:plc:alice': 'alice.test', 'did:plc:bob': 'bob.test' }
const text = (phrase: Parameters<typeof plain>[0]) => plain(phrase, NOW, did => handles[did])
const [alice, bob] = ['did:plc:alice', 'did:plc:bob']
const orchard = { owner: alice, name: 'orchard' }
const found = { code: 'nobody-found', message: 'Nobody found.', advice: 'Check the spelling.' }

const refusals: Record<string, words.SettingsRefusal> = {
  notOwner: words.notOwner(alice),
  descriptionChanged: words.descriptionChanged('Plans an orchard'),
  descriptionGone: words.descriptionChanged(''),
  defaultChanged: words.defaultChanged('trunk'),
  gatewayChanged: words.gatewayChanged('did:web:queue.example'),
  gatewayGone: words.gatewayChanged(undefined),
  transferChanged: words.transferChanged('at://did:plc:bob/dev.knotless.repo/orchard'),
  transferGone: words.transferChanged(undefined),
  takenOutMeanwhile: words.takenOutMeanwhile(bob, 'collaborator'),
  namedMeanwhile: words.namedMeanwhile(bob, 'runner'),
  orderChanged: words.orderChanged(),
  formerChanged: words.formerChanged(bob),
  ruleChanged: words.ruleChanged('main', { queueOnly: true, pinned: true }),
  ruleGone: words.ruleChanged('main', { queueOnly: false, pinned: false }),
  ownAccount: words.ownAccount(alice),
  namedAlready: words.namedAlready(bob, 'runner'),
  tooMany: words.tooMany('collaborator', 100),
  tooManyFormer: words.tooManyFormer(1000),
  tooManyRules: words.tooManyRules(100),
  notFound: words.notFound('Not added', found),
  badBranch: words.badBranch('release/*'),
  longBranch: words.badBranch(`${'l'.repeat(10_000)}\u202e\n`),
  noSuchBranch: words.noSuchBranch('gone'),
  tooLong: words.tooLong(10_000, 3_000),
  badGateway: words.badGateway('did:key:z6Mk'),
  noGateway: words.badGateway(''),
  badName: words.badName('a b'),
  noName: words.badName(' '),
  toOneself: words.toOneself(),
  nothingAsked: words.nothingAsked(),
  unread: words.unread('pds.example'),
  recordGone: words.recordGone(),
  unclear: words.unclear('pds.example'),
  notWritten: words.notWritten('pds.example', false),
  notTaken: words.notWritten('pds.example', true),
  clocks: words.clocks('pds.example'),
  busy: words.busy(),
  holdsAlready: words.holdsAlready(bob),
  notOffered: words.notOffered(),
  nameTaken: words.nameTaken('orchard'),
  delegateFirst: words.delegateFirst(),
  notCopied: words.notCopied('A pack is not there.'),
  rightDenied: words.rightRefused('denied'),
  rightTooLittle: words.rightRefused('too-little'),
  rightFailed: words.rightRefused('failed'),
}

test('the refusals of Repository settings', t => {
  const lines = Object.entries(refusals).map(
    ([name, { code, message, advice }]) => `${name} ${code}: ${text(message)}${advice === undefined ? '' : ` / ${text(advice)}`}`,
  )
  t.assert.snapshot(lines)
})

test('what Repository settings says beside its forms', t => {
  const pulls = [{ title: 'Plan hedges', pull: 'at://did:plc:bob/dev.knotless.pull/x' }]
  const all = {
    ...says.sections,
    noRunner: says.noRunnerWarning(['main']),
    noRunnerTwo: says.noRunnerWarning(['main', 'release/1.0']),
    doubled: says.doubled,
    runsAs: [[{}, { executor: 'host' }, { executor: 'docker', version: '0.1.0' }].map(says.runsAs).join(' | ')],
    right: says.rightWords('pds.example'),
    kept: says.keptWords('Add runner'),
    ...Object.fromEntries(
      ['general', 'add', 'remove', 'move', 'void', 'offer', 'take-back', 'accept', 'already'].map(key => [key, says.doneWords(key) ?? []]),
    ),
    pending: says.pendingWords({ owner: bob, name: 'orchard' }, NOW - 60_000, NOW),
    pendingEver: says.pendingWords({ owner: bob, name: 'orchard' }, undefined, NOW),
    offered: says.offeredWords(orchard, { owner: bob, name: 'orchard' }),
    offer: says.offerWords(alice),
    voidNothing: says.voidWords(bob, [], 0),
    voidOne: says.voidWords(bob, pulls, 0),
    voidMany: says.voidWords(bob, pulls, 11),
    unreadNow: says.unreadNow,
    delegate: says.delegateWords,
    removeCollaborator: says.removeQuestion('collaborator', bob),
    removeRunner: says.removeQuestion('runner', bob),
    removeLast: says.removeQuestion('runner', bob, true),
    copied: [says.copiedWords('at://did:plc:alice/dev.knotless.repo/orchard')],
  }
  t.assert.snapshot(Object.entries(all).map(([name, phrase]) => `${name}: ${text(phrase)}`))
})
