import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boxWords } from '../../src/queue/words/box.ts'
import * as refusals from '../../src/queue/words/refusals.ts'
import { decisionWords } from '../../src/queue/words/steward.ts'
import { placeStrip } from '../../src/views/drawings.ts'
import { wordsText } from '../../src/views/phrases.ts'
import { byId, type Element, find, parseHtml } from './html-check.ts'
import { renderer } from './rendered.ts'
import { frame, minutesAgo, now, orchard } from './sample.ts'
import { boxes, boxModel, pullPage } from './sample-pull.ts'

/** What may be pressed in each state: of whoever may do what that state allows. */
const presses: Readonly<Record<string, string>> = {
  landing: 'Leave queue',
  'in-batch': 'Leave queue',
  'in-ahead': 'Leave queue',
  queued: 'Leave queue',
  'queued-flight': 'Leave queue',
  'queued-stranded': 'Leave queue',
  ejected: 'Add again',
  'gateway-owner': 'Open your settings',
  'signed-out': 'Add to merge queue',
  ready: 'Add to merge queue',
  'ready-running': 'Add to merge queue',
  'ready-unchecked': 'Add to merge queue',
}

function boxOf(page: ReturnType<typeof pullPage>): Element {
  return byId(parseHtml(renderer().renderPart('pull', 'box', page)), 'merge-box')
}

function pressable(box: Element): string[] {
  return [...find(box, 'button'), ...find(box, 'a', { role: 'button' })].map(element => element.text)
}

for (const parts of boxes) {
  const { key, headline, says } = boxWords(parts)
  test(`STA-3 the box in state ${key} says the words of the rules and offers what helps`, () => {
    const page = pullPage(boxModel(parts))
    const box = boxOf(page)
    const names = frame().names
    assert.equal(byId(box, 'merge-box-t').text, wordsText(headline, now, names))
    assert.ok(box.text.includes(wordsText(says, now, names)))
    assert.deepEqual(pressable(box), presses[key] === undefined ? [] : [presses[key]])
    assert.equal(box.attributes.get('data-tone'), page.box.box.tone)
    assert.equal(find(box, 'svg', { class: 'i' }).length > 0, true)
  })
}

test('the states of the box are all among the samples', () => {
  const keys = new Set(boxes.map(parts => boxWords(parts).key))
  assert.equal(keys.size, 25)
})

test('Add is a form that posts the head that was seen, with and without script', () => {
  const [ready] = boxes.filter(parts => parts.key === 'ready')
  assert.ok(ready)
  const page = pullPage(boxModel(ready))
  const [form] = find(boxOf(page), 'form')
  assert.ok(form)
  const { attributes } = form
  assert.match(attributes.get('action') ?? '', /^\/alice\.test\/orchard\/pulls\/alice\.test\/\w+\/queue$/)
  assert.equal(attributes.get('hx-post'), attributes.get('action'))
  assert.equal(attributes.get('method'), 'post')
  assert.equal(attributes.get('hx-target'), '#merge-box')
  assert.equal(attributes.get('hx-sync'), 'this:drop')
  assert.equal(find(form, 'input', { name: 'head' })[0]?.attributes.get('value'), page.pull.head?.commit)
})

test('Leave asks with its cost by script, and leads to the page that asks without', () => {
  const [queued] = boxes.filter(parts => parts.key === 'queued')
  assert.ok(queued)
  const box = boxOf(pullPage(boxModel(queued)))
  const [form] = find(box, 'form')
  assert.equal(form?.attributes.get('method'), 'get')
  assert.match(form?.attributes.get('action') ?? '', /\/leave$/)
  assert.equal(form?.attributes.get('hx-confirm'), 'Leave the queue? This gives up 8th place; nobody else is affected.')
  assert.ok(box.text.includes('Leaving gives up 8th place. Nobody else is affected.'))
})

test('Add without a session leads to log in and back to the same pull', () => {
  const [out] = boxes.filter(parts => parts.key === 'signed-out')
  assert.ok(out)
  const [link] = find(boxOf(pullPage(boxModel(out))), 'a', { role: 'button' })
  assert.match(link?.attributes.get('href') ?? '', /^\/login\?next=%2Falice\.test%2Forchard%2Fpulls%2Falice\.test%2F\w+$/)
})

test('a refusal comes back in the box as an alert, before everything else in it', () => {
  const [ready] = boxes.filter(parts => parts.key === 'ready')
  assert.ok(ready)
  const refused = refusals.upstreamFailed('queue', 'pds.example', 'silent', false)
  const box = boxOf(pullPage({ ...boxModel(ready), refused }))
  const [alert] = find(box, 'div', { role: 'alert' })
  assert.ok(alert)
  assert.equal(alert.parent?.children[0], alert)
  assert.match(alert.text, /Not known yet: pds\.example did not answer in time\. Whether it was written is not known/)
  assert.deepEqual(pressable(box), ['Add to merge queue'])
})

test('ADM-4 queued already is a notice, not an alert', () => {
  const [queued] = boxes.filter(parts => parts.key === 'queued')
  assert.ok(queued)
  const box = boxOf(pullPage({ ...boxModel(queued), notice: refusals.alreadyQueued(8, 12) }))
  assert.equal(find(box, 'div', { role: 'alert' }).length, 0)
  assert.match(find(box, 'div', { role: 'status' })[0]?.text ?? '', /already queued, 8th of 12/)
})

test('an ejected pull that would be refused now says why in place of Add again', () => {
  const [ejected] = boxes.filter(parts => parts.key === 'ejected')
  assert.ok(ejected)
  const model = boxModel(ejected)
  const refusal = refusals.conflict('queue', { branch: 'main', tip: 'a'.repeat(40), files: ['x.ts'], more: 0 })
  const box = boxOf(pullPage({ ...model, can: { ...model.can, queue: { allowed: false, refusal } } }))
  assert.deepEqual(pressable(box), [])
  assert.match(box.text, /Not queued: it does not apply on main/)
})

test('QUE-9 REC-9 a pull that changed since it was queued, or whose record came late, says so with both', () => {
  const [queued] = boxes.filter(parts => parts.key === 'queued')
  assert.ok(queued)
  const model = boxModel(queued)
  const standing = {
    ...model.standing,
    queuedAtHead: `abcdef0${'0'.repeat(33)}`,
    backdated: { keyTime: minutesAgo(90), seenAt: minutesAgo(3) },
  }
  const { text } = boxOf(pullPage({ ...model, standing }))
  assert.match(text, /Queued at abcdef0, now 1f00d5a\./)
  assert.match(text, /Backdated: its key says 30 Nov, 13:02 UTC, and it was first seen 30 Nov, 14:29 UTC\./)
})

test('the strip of beads shows ring, beads in flight, beads that wait and this one, and stops at 24', () => {
  const [queued] = boxes.filter(parts => parts.key === 'queued')
  assert.ok(queued)
  const model = boxModel(queued)
  const beads = (position: number, length: number) => {
    const box = boxOf(pullPage({ ...model, standing: { ...model.standing, position, length } }))
    return ['h', 'fly', 'bd', 'me'].map(name => find(box, 'circle', { class: name }).length)
  }
  assert.deepEqual(beads(8, 12), [1, 5, 6, 1])
  assert.deepEqual(beads(1, 1), [1, 0, 0, 1])
  assert.deepEqual(beads(900, 1000), [1, 5, 18, 1])
})

test('what is in a batch, landed in one or was turned away from one leads to that batch', () => {
  const batchTip = 'a'.repeat(40)
  for (const key of ['in-batch', 'merged', 'ejected']) {
    const parts = boxes.find(one => one.key === key)
    assert.ok(parts)
    const links = (model: Partial<ReturnType<typeof boxModel>>) =>
      find(boxOf(pullPage({ ...boxModel(parts), ...model })), 'a').filter(each => each.text === 'See the batch')
    assert.equal(links({ batchTip })[0]?.attributes.get('href'), `/alice.test/orchard/batches/${batchTip}`)
    assert.deepEqual(links({}), [])
  }
})

test('STW-10 an ejection says what the steward made of it, as text', () => {
  const parts = boxes.find(one => one.key === 'ejected')
  assert.ok(parts)
  const decision = decisionWords({ verdict: 'reject', kind: 'other', attempt: 1, assertion: '<b>3 !== 0</b>' })
  const { text } = boxOf(pullPage({ ...boxModel(parts), decision }))
  assert.match(text, /Steward: rejected\s+“<b>3 !== 0<\/b>” failed, which no known flake explains\./)
})

test('what would fail as it did is said to, beside Add again', () => {
  const parts = boxes.find(one => one.key === 'ejected')
  assert.ok(parts)
  const said = (unchanged: boolean) => boxOf(pullPage({ ...boxModel(parts), unchanged })).text
  assert.match(said(true), /It goes to the back\. Without a new push it will most likely fail the same way\./)
  assert.doesNotMatch(said(false), /most likely/)
})

test('ADM-5 a conflict comes with what to type to mend it, and with nothing that a shell would take for more', () => {
  const parts = boxes.find(one => one.key === 'conflict')
  assert.ok(parts)
  const typed = (branch: string, repo = orchard.uri) => {
    const page = pullPage(boxModel(parts))
    const at = { ...page, frame: { ...page.frame, url: 'https://queue.example/x' }, pull: { ...page.pull, head: { repo, branch } } }
    return find(boxOf(at), 'pre').map(({ text }) => text)
  }
  assert.deepEqual(typed('row-labels'), ['git switch row-labels\ngit fetch origin main\ngit merge FETCH_HEAD\ngit push origin row-labels'])
  assert.match(
    typed('row-labels', 'at://did:plc:abc/dev.knotless.repo/fork')[0] ?? '',
    /git fetch https:\/\/queue\.example\/alice\.test\/orchard\.git main/,
  )
  for (const hostile of ['x;reboot', '$(reboot)', '-f', "it's", 'a&b', 'a|b', 'a`b`']) assert.deepEqual(typed(hostile), [], hostile)
})

/** A box of somebody who may merge, as the gateway would take it. */
function merging(key: string, more: Partial<ReturnType<typeof boxModel>> = {}) {
  const [parts] = boxes.filter(one => one.key === key)
  assert.ok(parts)
  const model = boxModel(parts)
  return pullPage({ ...model, mayMerge: true, can: { ...model.can, merge: { allowed: true } }, ...more })
}

test('Merge is a form that posts the head that was seen, where pulls are merged by hand', () => {
  const page = merging('no-runners')
  const box = boxOf(page)
  assert.deepEqual(pressable(box), ['Merge'])
  const [form] = find(box, 'form')
  assert.match(form?.attributes.get('action') ?? '', /^\/alice\.test\/orchard\/pulls\/alice\.test\/\w+\/merge$/)
  assert.equal(form?.attributes.get('hx-post'), form?.attributes.get('action'))
  assert.equal(form?.attributes.get('method'), 'post')
  assert.equal(form?.attributes.get('hx-confirm'), undefined)
  assert.equal(find(form ?? box, 'input', { name: 'head' })[0]?.attributes.get('value'), page.pull.head?.commit)
})

test('PRO-3 beside Add stands Merge now, which asks first, and never on a branch that insists on its queue', () => {
  const box = boxOf(merging('ready', { queueOnly: false }))
  assert.deepEqual(pressable(box), ['Add to merge queue', 'Merge now'])
  const form = find(box, 'form')[1]
  assert.match(form?.attributes.get('action') ?? '', /\/merge$/)
  assert.equal(form?.attributes.get('hx-confirm'), 'Merge now, past the queue? What lands is checked only on its own.')
  assert.deepEqual(pressable(boxOf(merging('ready', { queueOnly: true }))), ['Add to merge queue'])
})

test('GWY-7 where the owner has not delegated, whoever would merge is told so, and the owner where to go', () => {
  const model = merging('no-runners').box
  const refusal = refusals.notDelegated('merge', 'did:plc:alice', false)
  const can = { ...model.can, merge: { allowed: false, refusal } }
  const other = boxOf(pullPage({ ...model, can }))
  assert.deepEqual(pressable(other), [])
  assert.match(other.text, /Not merged: this server may not write for/)
  const owner = pullPage({ ...model, can, isOwner: true, gateway: { delegated: false, settingsUrl: 'https://queue.example/settings' } })
  assert.deepEqual(pressable(boxOf(owner)), ['Open your settings'])
  assert.equal(boxOf(pullPage({ ...model, can, mayMerge: false })).text.includes('Not merged'), false)
})

test('the strip of beads shows who is in flight, also past one who was passed over', () => {
  const { markup } = placeStrip({ position: 4, length: 6, flying: [1, 2, 5] })
  const beads = [...markup.matchAll(/class="(fly|bd|me)" cx="(\d+)"/g)].sort((a, b) => Number(a[2]) - Number(b[2])).map(([, kind]) => kind)
  assert.deepEqual(beads, ['fly', 'fly', 'bd', 'me', 'fly', 'bd'])
})
