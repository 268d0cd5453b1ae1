/**
 * Loaded before each file of tests: processes are started as the server and the runner start theirs, by a small program, as soon as that is there.
 * A test's process is large, and starting git straight from it took half of the time of tests that push and merge. What a test sets itself holds.
 */
import { type Start, startProcessesBy, startStraight } from '../../src/git/processes.ts'
import { openStarter } from '../../src/git/starter.ts'

let way: Start = startStraight
let isOpening = false

/** From the first process on that a test starts; most start none. */
function open(): void {
  if (isOpening) return
  isOpening = true
  openStarter().then(
    starter => {
      way = starter.start
    },
    () => undefined,
  )
}

startProcessesBy((...asked) => {
  open()
  return way(...asked)
})
