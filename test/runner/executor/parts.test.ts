import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { cacheTarget } from '../../../src/runner/executor/cache.ts'
import { readDisk } from '../../../src/runner/executor/container.ts'
import { fullName } from '../../../src/runner/executor/image.ts'
import { findEngine } from '../../../src/runner/executor/probe.ts'
import { mergeReports, reportGlob } from '../../../src/runner/executor/report.ts'
import { readTar, writeTar } from '../../../src/runner/executor/tar.ts'

test('a tar that is written here is one that tar reads, and one that tar writes is read here', t => {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-tar-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const input = writeTar([
    { name: 'a/', mode: 0o755, owner: 0 },
    { name: 'a/b', bytes: Buffer.from('hello'), mode: 0o644, owner: 0 },
  ])
  execFileSync('tar', ['-xf', '-', '-C', dir], { input })
  mkdirSync(join(dir, 'd'.repeat(90)))
  for (const name of [`${'d'.repeat(90)}/${'n'.repeat(120)}`, 'é', 'empty']) writeFileSync(join(dir, name), name === 'empty' ? '' : name)
  for (const format of ['gnu', 'pax', 'ustar']) {
    const files = readTar(
      execFileSync('tar', [
        `--format=${format}`,
        '-cf',
        '-',
        '-C',
        dir,
        'a',
        'é',
        'empty',
        ...(format === 'ustar' ? [] : ['d'.repeat(90)]),
      ]),
    )
    const expected = ['a/b', 'é', 'empty', ...(format === 'ustar' ? [] : [`${'d'.repeat(90)}/${'n'.repeat(120)}`])]
    assert.deepEqual(
      files.map(({ name }) => name),
      expected,
      format,
    )
    assert.equal(files[0]?.bytes.toString(), 'hello')
  }
  assert.deepEqual(readTar(input.subarray(0, 1026)), [])
  assert.equal(readTar(input.subarray(0, 1026), { cut: true })[0]?.bytes.toString(), 'he')
  assert.deepEqual(readTar(Buffer.from('nonsense'.repeat(200))).length, 0)
})

test('a report’s pattern is looked for from the folder that it names', () => {
  assert.equal(reportGlob('reports/*.xml')?.folder, 'reports')
  assert.equal(reportGlob('./a/b/{c,d}/e.xml')?.folder, 'a/b')
  assert.equal(reportGlob('**/*.xml')?.folder, '')
  assert.equal(reportGlob('report.xml')?.folder, '')
  assert.equal(reportGlob('[x'), undefined)
})

test('reports are one document, and what is not JUnit’s is left out', () => {
  const file = (text: string) => ({ path: 'x', bytes: Buffer.from(text) })
  const merged = (...texts: string[]) => {
    const bytes = mergeReports(texts.map(file))
    return bytes === undefined ? undefined : Buffer.from(bytes).toString()
  }
  assert.equal(merged(), undefined)
  assert.equal(merged('<html>', '', '<testsuitesque/>'), undefined)
  assert.equal(merged('\ufeff<?xml version="1.0"?><testsuites/>'), '<?xml version="1.0"?><testsuites/>')
  assert.equal(
    merged('<?xml version="1.0"?>\n<!-- a --><testsuite a=""/>\n', 'no', '<testsuites>b</testsuites>'),
    '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite a=""/>\n<testsuites>b</testsuites>\n</testsuites>\n',
  )
  // Comments without end take no time.
  assert.equal(merged('<!--'.repeat(200_000)), undefined)
  assert.equal(merged(`${'<!---->'.repeat(100_000)}<x`), undefined)
})

test('CHK-2 a cache is in the home, in the tree or elsewhere, and never over what a run is made of', () => {
  assert.equal(cacheTarget('~/.npm'), '/w/home/.npm')
  assert.equal(cacheTarget('~/.npm/'), '/w/home/.npm')
  assert.equal(cacheTarget('node_modules'), '/w/tree/node_modules')
  assert.equal(cacheTarget('./a//b'), '/w/tree/a/b')
  assert.equal(cacheTarget('/usr/local/cargo'), '/usr/local/cargo')
  for (const path of ['~', '~/', '.', '/', '/w', '/w/steps', '/proc/self', '/dev/shm', '/etc', '/usr/bin', `~/${'x'.repeat(100)}`]) {
    assert.equal(cacheTarget(path), undefined, path)
  }
})

test('a short name of an image is Docker Hub’s', () => {
  assert.equal(fullName('node:24'), 'docker.io/library/node:24')
  assert.equal(fullName('node'), 'docker.io/library/node:latest')
  assert.equal(fullName('me/tool'), 'docker.io/me/tool:latest')
  assert.equal(fullName('ghcr.example/me/tool:1'), 'ghcr.example/me/tool:1')
  assert.equal(fullName('localhost/tool'), 'localhost/tool:latest')
  assert.equal(fullName('host:5000/tool'), 'host:5000/tool:latest')
  assert.equal(fullName(`tool@sha256:${'a'.repeat(64)}`), `docker.io/library/tool@sha256:${'a'.repeat(64)}`)
})

test('the disk is read from what df says, and from nothing else', () => {
  assert.deepEqual(readDisk('/dev/my disk 1000 400 600 40% /w'), { free: 600 * 1024, used: 400 * 1024 })
  for (const line of ['', 'df: no such file', '40% /w', 'a b c 40% /w']) assert.equal(readDisk(line), undefined, line)
})

test('the engine is the one that is named, and no other then', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-probe-'))
  const socket = join(dir, 'e.sock')
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ Version: '9.9', Components: [{ Name: 'Podman Engine', Version: '9.9' }] }))
  }).listen(socket)
  t.after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(dir, { recursive: true })
  })
  const found = { ok: true, socketPath: socket, name: 'podman', version: '9.9' }
  assert.deepEqual(await findEngine({ socket, env: {} }), found)
  assert.deepEqual(await findEngine({ env: { DOCKER_HOST: `unix://${socket}` } }), found)
  assert.deepEqual(await findEngine({ socket: join(dir, 'none'), env: { DOCKER_HOST: `unix://${socket}` } }), {
    ok: false,
    tried: [join(dir, 'none')],
  })
})
