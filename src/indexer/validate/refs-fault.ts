import { checkRefsRecord } from '../../git/refs-record.ts'
import { words } from '../../git/words.ts'

/** What is wrong with a refs record that cannot be used, as a code and a sentence for people. `repo`: the AT-URI that it has to name. */
export function refsFault(record: unknown, repo: string): { code: string; message: string } {
  const checked = checkRefsRecord(record, repo)
  if (!checked.ok) return { code: checked.code, message: checked.message }
  return { code: 'bad-record', message: words.notARecord('it is not as its lexicon wants it') }
}

/** What is said of a repository that nothing was pushed to. */
export function noRefs(): { code: 'no-refs'; message: string } {
  return { code: 'no-refs', message: words.noRecord() }
}
