// A page that follows what it shows. One of a browser's tabs holds one stream for all of them, since a browser opens few connections to one host;
// it tells the others what it hears. At each change a tab asks once, with the regions that it has, and gets those that differ.
const NAME = 'knotless-live'
// The server takes so many topics on one stream, and no longer address than this.
const MOST = 24
const LONGEST = 4_000
const live = document.getElementById('live')
const stale = document.getElementById('stale')
const loaded = performance.now()
/** What this tab shows, by address, with the version that it has. */
const shown = new Map(new URL(live.dataset.stream, location.href).searchParams.getAll('of').map(parted))
/** No tabs to tell. */
const nobody = { postMessage() {} }

/** When there was last a word from the server, and since when there is none, as `lost` or as `full`: it has as many streams as it may. */
let heard = loaded
let trouble
let troubledAt = 0
let reopenedAt = 0
/** While the tab is looked at: ends following, and opens the stream again if it is held here. */
let stop
let reopen

function parted(topic) {
  const at = topic.lastIndexOf('@')
  return [topic.slice(0, at), topic.slice(at + 1)]
}

function wait(ms, signal) {
  return new Promise(done => {
    setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}

const ask = () => live.dispatchEvent(new Event('changed'))

/** Takes what the stream said, to this tab or to another. */
function take(name, topic = '') {
  const [of, version] = parted(topic)
  if (name === 'lost' || name === 'full') {
    if (topic !== '' && !shown.has(of)) return
    if (trouble === undefined) troubledAt = performance.now()
    trouble = name
    return
  }
  heard = performance.now()
  trouble = undefined
  if (name !== 'changed' || !shown.has(of)) return
  shown.set(of, version)
  ask()
}

/** Reads a stream to its end. Throws the status when there is none, and an error when it breaks. */
async function read(url, signal, hear) {
  const answer = await fetch(url, { signal, headers: { accept: 'text/event-stream' } })
  if (!answer.ok) throw answer.status
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const events = (rest + value).split('\n\n')
    rest = events.pop()
    for (const event of events) hear(/^event: (.*)$/m.exec(event)?.[1], /^data: (.*)$/m.exec(event)?.[1])
  }
}

const addressOf = topics => `/events?${new URLSearchParams([...topics].map(each => ['of', each.join('@')]))}`
const fits = topics => topics.size <= MOST && addressOf(topics).length < LONGEST

/** Holds the stream for all tabs until `signal`. It is opened again when it ends, and when a tab shows what it does not tell of. */
async function hold(signal, bus) {
  let failures = 0
  while (!signal.aborted) {
    const round = new AbortController()
    const ends = AbortSignal.any([signal, round.signal])
    const wanted = new Map(shown)
    let isOpen = false
    const tell = (name, topic) => {
      if (name === 'changed') wanted.set(...parted(topic))
      take(name, topic)
      bus.postMessage({ name, topic })
    }
    bus.onmessage = ({ data }) => {
      for (const [of, version] of data.want ?? []) {
        if (!wanted.has(of)) {
          if (!fits(new Map(wanted).set(of, version))) bus.postMessage({ name: 'full', topic: `${of}@${version}` })
          else wanted.set(of, version)
          if (isOpen && wanted.has(of)) round.abort()
        } else if (wanted.get(of) !== version) bus.postMessage({ name: 'changed', topic: `${of}@${wanted.get(of)}` })
      }
    }
    reopen = () => round.abort()
    bus.postMessage({ name: 'who' })
    // The others say what they show.
    if (bus !== nobody) await wait(30, ends)
    isOpen = true
    try {
      await read(addressOf(wanted), ends, (name, topic) => {
        failures = 0
        tell(name, topic)
      })
    } catch (error) {
      if (!ends.aborted) {
        failures += 1
        tell(error === 429 ? 'full' : 'lost')
      }
    }
    const most = trouble === 'full' ? 60_000 : Math.min(10_000, 1_000 * 2 ** failures)
    if (!ends.aborted) await wait((0.5 + Math.random() / 2) * most, ends)
  }
}

function start() {
  const off = new AbortController()
  const { signal } = off
  stop = () => {
    off.abort()
    stop = undefined
    reopen = undefined
  }
  heard = performance.now()
  trouble = undefined
  if (!navigator.locks || !window.BroadcastChannel) {
    void hold(signal, nobody)
    return
  }
  const bus = new BroadcastChannel(NAME)
  signal.addEventListener('abort', () => bus.close())
  const want = () => bus.postMessage({ want: [...shown] })
  bus.onmessage = ({ data }) => {
    if (data.name === 'who') want()
    else if (data.name) take(data.name, data.topic)
  }
  want()
  // Whoever has the lock holds the stream; it passes on when that tab is closed, left or hidden.
  navigator.locks.request(NAME, { signal }, () => hold(signal, bus)).catch(() => undefined)
  reopen = () => hold(signal, nobody)
}

/** A tab that nobody looks at costs nothing, and catches up when it is shown. */
function follow() {
  if (document.hidden) stop?.()
  else if (stop === undefined) {
    start()
    ask()
  }
}
document.addEventListener('visibilitychange', follow)
window.addEventListener('pagehide', () => stop?.())
window.addEventListener('pageshow', event => event.persisted && follow())

live.addEventListener('htmx:config:request', ({ detail }) => {
  const { body } = detail.ctx.request
  const regions = [...document.querySelectorAll('[data-live]')]
  body.set('have', regions.map(({ dataset }) => `${dataset.live}.${dataset.is}`).join())
  for (const { dataset } of regions) for (const [name, value] of new URLSearchParams(dataset.with)) body.set(name, value)
})
live.addEventListener('htmx:after:request', ({ detail }) => {
  if (detail.ctx.response.status < 400) heard = performance.now()
})
// What is looked at stays where it is when something above it grows or shrinks: most browsers see to that, the others by this.
let anchor
live.addEventListener('htmx:before:swap', () => {
  anchor = undefined
  if (scrollY === 0 || CSS.supports('overflow-anchor', 'auto')) return
  const topOf = element => element.getBoundingClientRect().top
  const isSeen = element => topOf(element) >= 0 && topOf(element) < innerHeight
  const element = [document.activeElement, ...document.querySelectorAll('main [id]')].find(each => each !== document.body && isSeen(each))
  if (element) anchor = { element, top: topOf(element) }
})
live.addEventListener('htmx:after:swap', () => {
  if (anchor?.element.isConnected) scrollBy(0, anchor.element.getBoundingClientRect().top - anchor.top)
})
// When what has the focus goes, whoever uses the keyboard stays in its region instead of beginning again at the top.
let around = []
document.addEventListener('htmx:before:swap', () => {
  around = []
  for (let each = document.activeElement?.closest('main [id]'); each; each = each.parentElement.closest('main [id]')) around.push(each.id)
})
document.addEventListener('htmx:after:swap', () => {
  if (document.activeElement !== document.body) return
  const heirs = around.map(id => document.getElementById(id)?.querySelector('[tabindex="-1"], a[href], button'))
  heirs.find(Boolean)?.focus({ preventScroll: true })
})
// What was not answered is asked again.
for (const failed of ['htmx:error', 'htmx:response:error'])
  live.addEventListener(failed, () => setTimeout(() => stop && ask(), 5_000 + Math.random() * 5_000))

/** Says that the page may be stale: after 50 s without a word, or 4 s after the stream was lost. */
function notice() {
  const now = performance.now()
  const silent = now - heard
  if (silent > 50_000 && now - reopenedAt > 20_000) {
    reopenedAt = now
    reopen?.()
  }
  const isLost = silent > 50_000 || (trouble === 'lost' && now - troubledAt > 4_000)
  const says = isLost ? 'lost' : trouble === 'full' ? 'full' : ''
  if ((stale.dataset.says ?? '') === says) return
  stale.dataset.says = says
  stale.hidden = says === ''
  stale.dataset.tone = says === 'full' ? 'attention' : 'danger'
  if (says === 'full') stale.textContent = stale.dataset.full
  if (says !== 'lost') return
  stale.replaceChildren(document.getElementById('lost').content.cloneNode(true))
  const iso = new Date(Date.parse(document.documentElement.dataset.now) + heard - loaded).toISOString()
  for (const time of stale.querySelectorAll('time')) time.dateTime = iso
  document.dispatchEvent(new Event('tick'))
}
setInterval(() => document.hidden || notice(), 1_000)
setInterval(() => trouble === 'full' && !document.hidden && ask(), 30_000)

if (!document.hidden) start()
