/** What the script of a run says about its steps between their output, on lines that begin with a mark of the run's own. */
export type StepSaid =
  | { at: 'start'; step: number; retry: number }
  /** So far: `memory`, processes ended for want of memory, undefined where nothing tells; `processes`, times that no process could be started. */
  | { at: 'end'; step: number; retry: number; code: number; memory: number | undefined; processes: number }
  /** The files are in place, or are not: the exit code of what put them there. */
  | { at: 'tree'; code: number }

const sign = '\x1e'
const longestLine = 200

/**
 * The script of a run, for `sh -c`, with the arguments: folder of the steps (files 1, 2, …), how many there are, retries of each, the mark, and
 * `limited` where the control groups it can see are its own. Each step is a shell of its own that ends with its first failing command; the
 * first step that fails decides. Output and errors are one stream, so that their order stays. `before` and `after` are commands of the executor.
 */
export function stepsScript(parts: { before?: string; after?: string } = {}): string {
  return `exec 2>&1
steps=$1 count=$2 retries=$3 mark=$4 limited=$5 code=0
read_hits() {
  memory=- processes=0
  [ "$limited" = limited ] || return 0
  for events in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$events" ] && while read -r key value; do [ "$key" = oom_kill ] && memory=$value; done < "$events"
  done
  for events in /sys/fs/cgroup/pids.events /sys/fs/cgroup/pids/pids.events; do
    [ -r "$events" ] && while read -r key value; do [ "$key" = max ] && processes=$value; done < "$events"
  done
  return 0
}
${parts.before ?? ''}
n=1
while [ "$n" -le "$count" ]; do
  retry=0
  while :; do
    printf '\\036%s start %s %s\\n' "$mark" "$n" "$retry"
    sh -e "$steps/$n" < /dev/null
    code=$?
    read_hits
    printf '\\036%s end %s %s %s %s %s\\n' "$mark" "$n" "$retry" "$code" "$memory" "$processes"
    [ "$code" -eq 0 ] && break
    [ "$retry" -ge "$retries" ] && break 2
    retry=$((retry + 1))
  done
  n=$((n + 1))
done
${parts.after ?? ''}
exit "$code"
`
}

/** Takes the lines with the mark out of the output. `said` gets them, `write` the rest, in order. */
export function createMarks(mark: string, said: (said: StepSaid) => void, write: (bytes: Buffer) => void) {
  const begin = Buffer.from(`${sign}${mark} `)
  let held: Buffer = Buffer.alloc(0)

  function pass(bytes: Buffer, more: boolean): void {
    let from = 0
    for (;;) {
      const at = bytes.indexOf(begin, from)
      if (at < 0) break
      const end = bytes.subarray(at, at + longestLine).indexOf(0x0a)
      if (end < 0 && more && bytes.length - at < longestLine) {
        if (at > from) write(bytes.subarray(from, at))
        held = Buffer.from(bytes.subarray(at))
        return
      }
      const line = end < 0 ? undefined : readLine(bytes.subarray(at + begin.length, at + end).toString('latin1'))
      if (at > from) write(bytes.subarray(from, at))
      if (line === undefined) write(bytes.subarray(at, at + begin.length))
      else said(line)
      from = line === undefined ? at + begin.length : at + end + 1
    }
    const stop = more ? heldFrom(bytes, from, begin) : bytes.length
    if (stop > from) write(bytes.subarray(from, stop))
    held = Buffer.from(bytes.subarray(stop))
  }
  return {
    write(bytes: Buffer) {
      pass(held.length === 0 ? bytes : Buffer.concat([held, bytes]), true)
    },
    end() {
      pass(held, false)
    },
  }
}

function heldFrom(bytes: Buffer, from: number, begin: Buffer): number {
  const at = bytes.lastIndexOf(sign)
  if (at < from || bytes.length - at >= begin.length) return bytes.length
  return bytes.compare(begin, 0, bytes.length - at, at) === 0 ? at : bytes.length
}

function readLine(text: string): StepSaid | undefined {
  const [at, ...rest] = text.split(' ')
  const numbers = rest.map(word => (word === '-' ? undefined : Number(word)))
  if (numbers.some(n => n !== undefined && (!Number.isSafeInteger(n) || n < 0))) return undefined
  const [step = 0, retry = 0, code = 0, memory, processes = 0] = numbers
  if (at === 'tree' && numbers.length === 1) return { at, code: step }
  if (at === 'start' && numbers.length === 2) return { at, step, retry }
  if (at === 'end' && numbers.length === 5) return { at, step, retry, code, memory, processes }
  return undefined
}
