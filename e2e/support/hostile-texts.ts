/** Texts that people write to break a page. None may be more than text, and none may be wider than its place. */
export const hostile = {
  html: `<script>document.title='broken'</script><img src=x onerror="document.title='broken'"></title></textarea><style>*{display:none}</style>`,
  attribute: `" onmouseover="document.title='broken'" x="' autofocus onfocus='document.title=1`,
  marks: 'left \u202egnitirw tfel ot thgir\u202c \u2067and on \u200f\u061c\u0007',
  emoji: '🍐👩‍🌾👨‍👩‍👧‍👦🏴󠁧󠁢󠁳󠁣󠁴󠁿'.repeat(30),
  zalgo: `z${'\u0353\u0489\u0321'.repeat(300)}`,
  /** 10,000 letters without a place to break. */
  long: 'l'.repeat(10_000),
  template: '<%= process.exit() %> {{ 2 }} #{3}',
  /** git takes no angle brackets in a name. */
  name: 'A &lt;b&gt;name\u202e"',
}

/** Markdown that would lead, load or run something. */
export const hostileBody = [
  hostile.html,
  `[run](javascript:document.title='broken') ![load](https://tracker.example/x.png) [out](https://example.com "${hostile.attribute}")`,
  '<iframe src="https://example.com"></iframe><form action="/logout" method="post"><button>Log out</button></form>',
  '<a id="merge-box" name="live" hx-get="/logout" hx-trigger="load">x</a><svg><animate onbegin="document.title=1"/></svg>',
  `| a | b |\n|---|---|\n| ${'wide'.repeat(400)} | ${hostile.marks} |`,
  `\`\`\`\n${hostile.long}\n\`\`\``,
  `${'> '.repeat(80)}deep`,
  `${'- x\n'.repeat(50)}`,
  hostile.zalgo,
  hostile.emoji,
].join('\n\n')
