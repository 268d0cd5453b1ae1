/** A sync that stops in the middle of a pack and says so: a program for a test to kill. Arguments: the mirror's directory, the record as JSON. */
import { openMirror } from '../../src/git/mirror.ts'
import { syncMirror } from '../../src/git/sync.ts'

const [dir = '', record = ''] = process.argv.slice(2)
const mirror = await openMirror(dir)
const stayAlive = setInterval(() => undefined, 1000)
await syncMirror(mirror, JSON.parse(record), async function* () {
  yield Buffer.from('PACK\0\0\0\x02', 'latin1')
  console.log('stalled')
  await new Promise(() => undefined)
})
clearInterval(stayAlive)
