/** What templates call: one set per page, made from its frame. Everything given out is text to be escaped, or `Html`. */

import { nothingRanWords } from '../queue/words/batch.ts'
import { addAgainWords, boxLinks, mergeNowWords } from '../queue/words/beside-box.ts'
import { logNotes } from '../queue/words/check-page.ts'
import { silentBatchWords } from '../queue/words/expected.ts'
import { emptyWords, errorPageWords, liveWords } from '../queue/words/pages.ts'
import { ordinal, shownTitle } from '../queue/words/phrase.ts'
import { recordCut } from '../queue/words/record-page.ts'
import { backdatedWords, queuedAtWords } from '../queue/words/standing.ts'
import { minutesWords } from '../queue/words/stats.ts'
import { backWords, requeueWords, stewardLabel } from '../queue/words/steward.ts'
import { plainLine } from './ansi.ts'
import { type Asset, assetUrl } from './assets.ts'
import { boxAct, boxCommands, boxIconOf, boxPlace, boxRuns, inFlight, mergesNow, namesRunner } from './boxes.ts'
import { diffBlock, foldedWhy, isAskable } from './diffs.ts'
import { Html, html } from './html.ts'
import * as labels from './labels.ts'
import { logBlock } from './logs.ts'
import type { Account, BoxWords, Frame, Instant, RefusalWords, RepoHead, TimeForm, Words } from './models.ts'
import * as paths from './paths.ts'
import { type PhraseContext, who, wordsHtml, wordsText } from './phrases.ts'
import { plotSvg } from './plots.ts'
import { regionMark } from './regions.ts'
import { rowTexts } from './rows.ts'
import { duration, millis, timeElement } from './times.ts'
import { clip } from './titles.ts'

/** What a renderer keeps for all its pages. */
export interface Kit {
  assets: ReadonlyMap<string, Asset>
  markdown(text: string): Html
}

/** A number with its thousands apart, as in 1,000. */
function grouped(n: number): string {
  return n < 1000 ? `${n}` : n.toLocaleString('en')
}

const lasting = new Set(['queued', 'queued-flight', 'in-batch', 'in-ahead', 'landing', 'working', 'ready-running'])

export type Helpers = ReturnType<typeof createHelpers>

/** The helpers of one page. `repo` is the repository that it belongs to. */
export function createHelpers(kit: Kit, frame: Frame, repo: RepoHead | undefined) {
  const names = frame.names ?? (() => undefined)
  const asset = (name: string) => assetUrl(kit.assets, name)
  const sprite = asset('sprite.svg')
  const repoHref = repo === undefined ? '/' : paths.repositoryPath(repo.owner, repo.name)
  const here = paths.withQuery(frame.path, { have: undefined, seen: undefined })

  const pullPath = (author: Account, uri: string) => (repo === undefined ? '/' : paths.pullPathIn(repoHref, author, uri))
  const context: PhraseContext = {
    now: frame.now,
    names,
    pullHref: uri => {
      const did = /^at:\/\/([^/]+)\//.exec(uri)?.[1]
      return did === undefined || repo === undefined ? undefined : pullPath({ did, handle: names(did) }, uri)
    },
  }
  const checkHref = (uri: string) => {
    const did = /^at:\/\/([^/]+)\/dev\.knotless\.check\//.exec(uri)?.[1]
    return did === undefined || repo === undefined ? undefined : paths.checkPathIn(repoHref, { did, handle: names(did) }, uri)
  }
  const icon = (name: string) => new Html(`<svg class="i" aria-hidden="true"><use href="${sprite}#${name}"/></svg>`)
  const words = (of: Words | undefined) => (of === undefined ? '' : wordsHtml(of, context))
  const time = (at: Instant, form: TimeForm) => timeElement(at, form, frame.now)
  const label = (of: { word: string | Html; icon: string; tone: string }, bare = false) =>
    html`<span class="state${bare ? ' bare' : ''}" data-tone="${labels.tone(of.tone)}">${icon(of.icon)} ${of.word}</span>`

  return {
    asset,
    icon,
    words,
    time,
    label,
    who,
    clip,
    ordinalText: ordinal,
    name: paths.accountName,
    accountHref: paths.accountPath,
    repositoryHref: paths.repositoryPath,
    queueOf: paths.queuePath,
    pullOf: paths.pullPath,
    query: paths.withQuery,
    login: paths.loginPath,
    part: encodeURIComponent,
    id: paths.idOf,
    tone: labels.tone,
    healthLabel: labels.healthLabel,
    standingLabel: labels.standingLabel,
    batchLabel: labels.batchLabel,
    judged: labels.judgedLabel,
    plot: plotSvg,
    boxAct,
    mergesNow,
    boxRuns,
    boxIconOf,
    namesRunner,
    boxLinks,
    addAgain: addAgainWords,
    boxCommands: (model: Parameters<typeof boxCommands>[0], page: Parameters<typeof boxCommands>[1]) =>
      boxCommands(model, page, frame.url === undefined ? undefined : `${new URL(frame.url).origin}${repoHref}.git`),
    mergeNow: mergeNowWords(),
    inFlight,
    foldedWhy,
    isAskable,
    /** The same page with one file's diff alone, by its names now and before. */
    fileHref: (file: { path: string; oldPath?: string | undefined }) =>
      `${paths.withQuery(here, { file: file.path, was: file.oldPath })}#h-files`,
    allFilesHref: `${paths.withQuery(here, { file: undefined, was: undefined })}#h-files`,
    unanswered: liveWords({ key: 'unanswered' }),
    full: liveWords({ key: 'full' }),
    stale: liveWords({ key: 'stale', at: frame.now, now: frame.now }),
    diff: diffBlock,
    log: logBlock,
    /** What a program printed, without its orders to a terminal. */
    output: (text: string) => text.split('\n').map(plainLine).join('\n'),
    empty: emptyWords,
    errorPage: errorPageWords,
    logLive: logNotes.live,
    nothingRan: nothingRanWords(),
    ...rowTexts({ label, time, words, text: of => wordsText(of, frame.now, names), checkHref, now: frame.now }),
    checkHref,

    repoHref,
    repoName: repo === undefined ? '' : paths.repositoryName(repo.owner, repo.name),
    queueHref: (branch: string) => (repo === undefined ? '/' : paths.queuePath(repo.owner, repo.name, branch)),
    statsHref: paths.statsPathIn(repoHref),
    batchHref: (tip: string) => paths.batchPathIn(repoHref, tip),
    /** How long something took, from milliseconds. */
    duration,
    minutes: minutesWords,
    /** A clock time, with its day where that was not lately. */
    clock: (at: Instant) => time(at, Math.abs(frame.now - millis(at)) < 20 * 3_600_000 ? 'clock' : 'full'),
    silentBatch: silentBatchWords(),
    stewardLabel,
    back: backWords,
    recordHref: paths.recordPath,
    recordCut,
    pullHref: (pull: { author: Account; uri: string }) => pullPath(pull.author, pull.uri),
    memberHref: (member: { pull: string; author?: Account | undefined }) =>
      member.author === undefined ? context.pullHref(member.pull) : pullPath(member.author, member.pull),
    loginHere: paths.loginPath(paths.withQuery(here, { every: undefined })),
    here: (changes: Record<string, string | undefined>) => paths.withQuery(here, changes),
    iso: (ms: number) => new Date(ms).toISOString(),
    text: (of: Words) => wordsText(of, frame.now, names),
    pageTitle: () => `${clip(frame.title, 240)} · knotless`,
    headers: JSON.stringify({ 'x-csrf-token': frame.csrf }),
    csrf: html`<input type="hidden" name="_csrf" value="${frame.csrf}">`,
    isViewer: (account: Account) => account.did === frame.viewer?.did,
    title: shownTitle,
    commit: (id: string) => html`<code>${id.slice(0, 7)}</code>`,
    number: grouped,
    count: (n: number, one: string, many = `${one}s`) => `${grouped(n)} ${n === 1 ? one : many}`,
    ordinal: (n: number) => html`${n}<small>${ordinal(n).slice(-2)}</small>`,
    markdown: kit.markdown,
    people: (accounts: readonly Account[]) => {
      const most = 20
      const shown = accounts.slice(0, most).map((account, at) => html`${at === 0 ? '' : ', '}${who(account)}`)
      return accounts.length === 0 ? 'none' : html`${shown}${accounts.length > most ? ` and ${accounts.length - most} more` : ''}`
    },
    refusal: (of: RefusalWords | undefined) => (of === undefined ? '' : html`${words(of.message)} ${words(of.advice)}`),
    /**
     * Makes an element a live region: the page asks for it again when something changed. `more` is sent along, as the version that a list was
     * made from. The element is the root of the template `<page>/<part>`.
     */
    live: (part: string, more: Record<string, string | number> = {}) => {
      if (frame.live === undefined) return ''
      const mark = Object.entries(regionMark(part, more)).map(([key, value]) => html` ${key}="${value}"`)
      return html`${mark}`
    },
    boxSince: (box: BoxWords) => {
      if (box.since === undefined) return undefined
      return lasting.has(box.key) ? html`for ${time(box.since, 'for')}` : time(box.since, 'ago')
    },
    place: boxPlace,
    /** Said under a queued pull: QUE-9 and REC-9. */
    queueNotes: (
      standing: {
        queuedAtHead?: string | undefined
        backdated?: { keyTime: Instant; seenAt: Instant } | undefined
        requeue?: { kind: string; attempt: number } | undefined
      },
      head?: string,
    ) => {
      const notes: (Html | string)[] = []
      if (standing.requeue !== undefined) notes.push(words(requeueWords(standing.requeue)))
      if (standing.queuedAtHead !== undefined && head !== undefined) notes.push(words(queuedAtWords(standing.queuedAtHead, head)))
      if (standing.backdated !== undefined) {
        const { keyTime, seenAt } = standing.backdated
        notes.push(words(backdatedWords({ keyTime: millis(keyTime), seenAt: millis(seenAt) })))
      }
      return notes
    },
  }
}
