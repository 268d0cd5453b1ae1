import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readReport, reportBounds } from '../../src/workflows/junit.ts'

const report = `<?xml version="1.0" encoding="UTF-8"?>
<!-- by a reporter -->
<testsuites tests="4">
  <testsuite name="src/store.test.ts" file="src/store.test.ts" tests="3">
    <properties><property name="a" value="b>c"/></properties>
    <testcase name="passes" classname="store" time="0.1"/>
    <testcase name="opens &lt;an&gt; orchard" classname="store">
      <failure message="expected 499 &amp; not 500" type="AssertionError"><![CDATA[AssertionError: expected
  at src/store.test.ts:88 <here>]]></failure>
      <system-out>noise</system-out>
    </testcase>
    <testcase name="breaks"><error message="">TypeError: &#x78;&#121; is &undefined;</error><error message="again"/></testcase>
  </testsuite>
  <testsuite name="other"><testcase name="later"><skipped/></testcase></testsuite>
</testsuites>`

test('CHK-13 a report gives how many tests ran and which failed, with what went wrong', () => {
  const read = readReport(report)
  assert.deepEqual([read?.tests, read?.skipped, read?.failures, read?.isDamaged], [4, 1, 2, false])
  assert.deepEqual(read?.failed, [
    {
      name: 'opens <an> orchard',
      suite: 'store',
      file: 'src/store.test.ts',
      kind: 'failure',
      message: 'expected 499 & not 500',
      text: 'AssertionError: expected\n  at src/store.test.ts:88 <here>',
    },
    {
      name: 'breaks',
      suite: 'src/store.test.ts',
      file: 'src/store.test.ts',
      kind: 'error',
      message: '',
      text: 'TypeError: xy is &undefined;',
    },
  ])
})

test('what is no report is none, and a document type is never read', () => {
  for (const other of ['', 'hello', '<html><testcase/></html>', '{"a":1}', '<?xml version="1.0"?>'])
    assert.equal(readReport(other), undefined)
  const bomb = '<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;">]><testsuites><testcase name="&lol2;"/></testsuites>'
  assert.equal(readReport(bomb), undefined)
  assert.equal(readReport('<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite/>'), undefined)
})

test('a report that breaks off, or goes wrong, gives what came before', () => {
  const cut = readReport(report.slice(0, report.indexOf('<system-out>')))
  assert.deepEqual([cut?.tests, cut?.failures, cut?.isDamaged], [2, 1, true])
  assert.equal(readReport('<testsuite><testcase></testsuite>')?.isDamaged, true)
  assert.equal(readReport('<testsuite><testcase name=unquoted/></testsuite>')?.isDamaged, true)
  assert.equal(readReport('<testsuite/>')?.isDamaged, false)
})

test('everything in a report is bounded: depth, attributes, names, texts, failures', () => {
  assert.equal(readReport('<testsuite>'.repeat(100_000))?.isDamaged, true)
  assert.equal(readReport(`<testsuite><testcase ${'a="1" '.repeat(10_000)}/></testsuite>`)?.isDamaged, true)
  const long = readReport(
    `<testsuite><testcase name="${'n'.repeat(100_000)}"><failure message="${'m'.repeat(100_000)}">${'t'.repeat(100_000)}</failure></testcase></testsuite>`,
  )
  const [test] = long?.failed ?? []
  assert.ok((test?.name.length ?? 0) <= reportBounds.name + 1)
  assert.ok((test?.message.length ?? 0) <= reportBounds.message + 1)
  assert.ok((test?.text.length ?? 0) <= reportBounds.text)
  const many = readReport(`<testsuite>${'<testcase name="x"><failure/></testcase>'.repeat(5_000)}</testsuite>`)
  assert.deepEqual([many?.failures, many?.failed.length], [5_000, reportBounds.failed])
})

test('five megabytes of any shape are read in moments', () => {
  const shapes = ['<testcase name="x"><failure>', '<!--', '<![CDATA[', '&#x41;', '<a b="', '</', '<', ' a="b"', ']]>', '\t\n  ']
  const before = process.cpuUsage()
  for (const shape of shapes) readReport(`<testsuite>${shape.repeat(Math.floor(5e6 / shape.length))}`)
  for (const shape of shapes) readReport(`<testsuite ${shape.repeat(Math.floor(5e6 / shape.length))}`)
  const { user } = process.cpuUsage(before)
  assert.ok(user < 5_000_000, `${user / 1_000} ms`)
})

test('no text makes it throw', () => {
  const parts = fc.constantFrom(
    '<testsuite>',
    '</testsuite>',
    '<testcase name="a">',
    '<failure>',
    '</failure>',
    '</testcase>',
    '<![CDATA[',
    ']]>',
    '&lt;',
    '&#0;',
    '<!--',
    '-->',
    'x',
    '"',
    '<',
    '>',
    '/>',
  )
  fc.assert(fc.property(fc.array(parts, { maxLength: 40 }), pieces => void readReport(`<testsuite>${pieces.join('')}`)))
})
