import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nameOfPath } from '../../src/server/auth/next-name.ts'
import { samePath, withoutEndSlash } from '../../src/server/http/paths.ts'

test('a log-in comes back to paths of this server', () => {
  for (const path of ['/', '/settings', '/alice.test/orchard/queue/main?q=x&page=2', '/did:plc:abc/orchard', '/a/b%2Fc']) {
    assert.equal(samePath(path), path)
  }
})

test('a log-in never leads to another site', () => {
  const away = [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/a\nb',
    ' /x',
    '',
    'x',
  ]
  for (const path of [...away, '/..//evil.example', '/./\\evil.example', `/${'a'.repeat(2_000)}`, 7, null, undefined, ['/x']]) {
    const taken = samePath(path)
    assert.equal(new URL(taken, 'https://here.example').origin, 'https://here.example', String(path))
    assert(!taken.startsWith('//'), `${path} became ${taken}`)
  }
})

test('whatever is given, the path stays here', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('/', '\\', '.', '%', '2', 'F', 'f', '@', ':', '?', '#', 'a', '\t', '\n') }), text => {
      const taken = samePath(text)
      return taken.startsWith('/') && !taken.startsWith('//') && new URL(taken, 'https://here.example').origin === 'https://here.example'
    }),
  )
})

test('the door says where it leads', () => {
  assert.equal(nameOfPath('/alice.test/orchard/queue/feature/x'), 'alice.test/orchard, the queue for feature/x')
  assert.equal(nameOfPath('/alice.test/orchard/pulls/bob.test/3k'), 'alice.test/orchard, a pull')
  assert.equal(nameOfPath('/alice.test/orchard?x=1'), 'alice.test/orchard')
  assert.equal(nameOfPath('/settings'), 'your settings')
  assert.equal(nameOfPath('/'), undefined)
  assert.equal(nameOfPath('/%zz/x'), undefined)
})

test('a slash too many is taken off, the question kept, and no other site made of it', () => {
  assert.equal(withoutEndSlash('/alice.test/orchard/?q=a/'), '/alice.test/orchard?q=a/')
  assert.equal(withoutEndSlash('/alice.test///'), '/alice.test')
  for (const url of ['/', '/alice.test', '/alice.test?next=/', '//', '//evil.example/', '/\\evil.example/', `/${'a/'.repeat(1_000)}`]) {
    assert.equal(withoutEndSlash(url), undefined, url)
  }
})
