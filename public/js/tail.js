// The end of a log that grows stays in view for whoever has gone down to it; for everybody else nothing moves.
const page = document.documentElement
const isAtEnd = () => scrollY > 0 && innerHeight + scrollY > page.scrollHeight - 60
let follows = isAtEnd()
addEventListener('scroll', () => (follows = isAtEnd()), { passive: true })
document.addEventListener('htmx:after:swap', () => {
  if (follows) scrollTo(0, page.scrollHeight)
})
