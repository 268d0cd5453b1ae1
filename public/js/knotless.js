// Small jobs that HTML cannot do: times that tick in the reader's zone, a page that says when it is stale, a menu that closes.
const started = performance.now()
const served = Date.parse(document.documentElement.dataset.now)
// The server's clock: a wrong clock here changes nothing.
const now = () => served + performance.now() - started

function span(s) {
  if (s < 60) return `${s} s`
  const m = Math.floor(s / 60)
  if (m < 60) return `${m} min`
  const h = Math.floor(m / 60)
  if (h >= 48) return `${Math.floor(h / 24)} days`
  return h >= 10 || m % 60 === 0 ? `${h} h` : `${h} h ${m % 60} min`
}

// The browser's own names differ from the server's ("Sept").
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const since = date => span(Math.max(0, Math.round((now() - date) / 1000)))
const day = date => `${date.getDate()} ${months[date.getMonth()]}`
const clock = date => `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`
const forms = {
  ago: date => `${since(date)} ago`,
  for: since,
  clock,
  day: date => `${day(date)} ${date.getFullYear()}`,
  full: date => `${day(date)}, ${clock(date)}`,
}

function tick() {
  for (const time of document.querySelectorAll('time[data-t]')) {
    const text = forms[time.dataset.t]?.(new Date(time.dateTime))
    if (text && time.textContent !== text) time.textContent = text
  }
}
tick()
setInterval(tick, 5000)

/** What stands above the regions: the page's title, and how many are queued and wait. The news says it as it is now. */
function head() {
  const said = document.getElementById('news')?.dataset
  if (!said) return
  document.title = said.title
  document.getElementById('queued').textContent = said.queued
  const waiting = document.getElementById('n-waiting')
  if (waiting) waiting.textContent = said.waiting
}
document.addEventListener('htmx:after:swap', () => {
  tick()
  head()
})
document.getElementById('zone').textContent = 'Times are shown in your time zone.'

/** Shows the notice after 50 s without a word from the stream, or 4 s after an error, and hides it at the next word. */
function watch(live, stale) {
  let heard = now()
  let lost = false
  const on = (names, listener) => {
    for (const name of names) live.addEventListener(name, listener)
  }
  on(['htmx:sse:after:connection', 'changed', 'beat'], () => {
    heard = now()
    lost = false
  })
  on(['htmx:sse:error', 'htmx:sse:close', 'htmx:error', 'htmx:response:error'], () => {
    lost = true
  })
  setInterval(() => {
    if (document.hidden) return
    const show = now() - heard > (lost ? 4000 : 50000)
    if (show === !stale.hidden) return
    stale.hidden = !show
    if (!show) return
    const iso = new Date(heard).toISOString()
    stale.innerHTML = `<b>Connection lost.</b> This page is as it was at <time datetime="${iso}" data-t="clock"></time>, <time datetime="${iso}" data-t="ago"></time>. Trying again; <a href="">reload now</a>.`
    tick()
  }, 1000)
  // A first connection that fails is not tried again by the extension.
  setInterval(() => {
    if (lost && !document.hidden) live.dispatchEvent(new Event('again'))
  }, 5000)
}

// A form that nobody answers says so; the next answer takes the notice away with the region it is in.
document.addEventListener('htmx:error', event => {
  const notice = event.target.closest?.('form') && document.getElementById('unanswered')
  if (!notice) return
  notice.role = 'alert'
  notice.hidden = false
})

const live = document.getElementById('live')
const stale = document.getElementById('stale')
if (live && stale) watch(live, stale)

const menus = () => document.querySelectorAll('details.menu[open]')
for (const leaving of ['click', 'focusin']) {
  document.addEventListener(leaving, event => {
    for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false
  })
}
document.addEventListener('keydown', event => {
  if (event.key !== 'Escape') return
  for (const menu of menus()) {
    menu.open = false
    menu.querySelector('summary').focus()
  }
})
