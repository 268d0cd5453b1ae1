// Small jobs that HTML cannot do: times that tick in the reader's zone, details that stay open, a menu that closes.
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
const range = (from, to, unit, name) => {
  const low = Math.max(0, Math.floor(from / unit))
  const high = Math.max(1, Math.ceil(to / unit))
  const one = name.replace(/s$/, '')
  if (low === 0) return `under ${high} ${high === 1 ? one : name}`
  return low === high ? `about ${low} ${low === 1 ? one : name}` : `${low}–${high} ${name}`
}
// As the server says it: in one unit, and never as a false minute. In minutes.
function ahead(from, to) {
  if (to < 90) return range(from, to, 1, 'min')
  if (to < 2880) return from >= 1 && from < 60 ? `${Math.floor(from)} min to ${Math.ceil(to / 60)} h` : range(from, to, 60, 'h')
  return to > 20160 ? 'more than a week' : range(from, to, 1440, 'days')
}
const forms = {
  in: (date, { to }) => `in ${ahead((date - now()) / 6e4, (Date.parse(to) - now()) / 6e4)}`,
  ago: date => `${since(date)} ago`,
  for: since,
  clock,
  day: date => `${day(date)} ${date.getFullYear()}`,
  full: date => `${day(date)}, ${clock(date)}`,
}

function tick() {
  for (const time of document.querySelectorAll('time[data-t]')) {
    const text = forms[time.dataset.t]?.(new Date(time.dateTime), time.dataset)
    if (text && time.textContent !== text) time.textContent = text
  }
  for (const bar of document.querySelectorAll('progress[data-from]')) {
    bar.value = Math.min(100, (now() - Date.parse(bar.dataset.from)) / 10 / bar.dataset.for)
  }
}
tick()
setInterval(tick, 5000)

/** What stands above the regions: the page's title, and how many are queued and wait. The news says it as it is now. */
function head() {
  const said = document.getElementById('news')?.dataset
  if (!said) return
  document.title = said.title
  const queued = document.getElementById('queued')
  if (queued) queued.textContent = said.queued
  const waiting = document.getElementById('n-waiting')
  if (waiting) waiting.textContent = said.waiting
}
document.addEventListener('htmx:after:swap', () => {
  tick()
  head()
})
document.addEventListener('tick', tick)
document.getElementById('zone').textContent = 'Times are shown in your time zone.'

// What the reader opened or closed stays so, whatever the server sends.
window.htmx?.registerExtension('kept', {
  htmx_before_morph_attr: (element, { attrName }) => !(attrName === 'open' && element.matches('details')),
})

// A form that nobody answers says so; the next answer takes the notice away with the region it is in.
document.addEventListener('htmx:error', event => {
  const notice = event.target.closest?.('form') && document.getElementById('unanswered')
  if (!notice) return
  notice.role = 'alert'
  notice.hidden = false
})

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
