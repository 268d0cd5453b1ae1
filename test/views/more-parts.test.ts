/** The regions of the lists and of the figures, which follow what they show as the queue page does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageParts } from '../../src/views/render.ts'
import { byId, find, parseHtml } from './html-check.ts'
import { renderer } from './rendered.ts'
import { frame } from './sample.ts'
import { pages } from './sample-rest.ts'

const all = pages()
const live = frame({ path: '/x', live: '/events?of=x%401' })

for (const name of ['repository', 'home', 'my-pulls', 'stats'] as const) {
  test(`each region of the page ${name} is the same alone as in the page, and leaves out what the reader has`, () => {
    for (const [sample, model] of Object.entries(all[name])) {
      const followed = { ...model, frame: { ...live, viewer: model.frame.viewer } }
      const page = renderer().renderPage(name, followed)
      const have = [...page.matchAll(/ data-live="([a-z]+)" data-is="([\w-]{8})"/g)].map(([, part, is]) => [part ?? '', is] as const)
      const parts = pageParts[name].filter(part => part !== 'day' || have.some(([had]) => had === 'day'))
      assert.deepEqual(have.map(([part]) => part).sort(), [...parts].sort(), sample)
      for (const part of parts) {
        const alone = renderer().renderPart(name, part, followed)
        assert.equal(byId(parseHtml(alone), part).attributes.get('data-live'), part)
        assert.ok(page.includes(alone.trim()), `${sample} ${part}`)
      }
      assert.equal(renderer().renderChanges(name, followed, have.map(each => each.join('.')).join()), '')
      const [first] = parts
      assert.match(renderer().renderChanges(name, followed, `${first}.`), new RegExp(`^<hx-partial hx-target="\\[data-live=${first}\\]">`))
    }
  })
}

test('rows and groups of lists that change have ids of their own, so that the focus stays with what it is on', () => {
  const { repository } = all.repository
  const { home } = all.home
  const { 'my-pulls': mine } = all['my-pulls']
  assert.ok(repository && home && mine)
  const rows = (html: string) => find(parseHtml(html), 'li').filter(({ attributes }) => attributes.get('id') !== undefined)
  const idsOf = (html: string) => rows(html).map(({ attributes }) => attributes.get('id'))
  const [, ...later] = repository.pulls
  const pulls = idsOf(renderer().renderPart('repository', 'pulls', repository))
  assert.equal(pulls.length, repository.pulls.length)
  assert.deepEqual(idsOf(renderer().renderPart('repository', 'pulls', { ...repository, pulls: later })), pulls.slice(1))
  assert.equal(idsOf(renderer().renderPart('home', 'repos', home)).length, home.repositories.length)
  const [, ...groups] = mine.groups
  assert.ok(groups.length > 0)
  const sections = (model: typeof mine) =>
    find(parseHtml(renderer().renderPart('my-pulls', 'list', model)), 'section').map(({ attributes }) => attributes.get('id'))
  assert.deepEqual(sections({ ...mine, groups }), sections(mine).slice(1))
  assert.ok(sections(mine).every(id => id !== undefined))
  assert.equal(idsOf(renderer().renderPart('my-pulls', 'list', mine)).length, mine.groups.flatMap(group => group.pulls).length)
})
