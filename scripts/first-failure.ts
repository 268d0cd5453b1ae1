/** A reporter of node's test runner that says nothing and ends the run with the first failure: a mutant is dead then, and the rest need not run. */

/** The runner takes a reporter as a default export and as nothing else. */
export default async function* firstFailure(events: AsyncIterable<{ type: string }>) {
  for await (const { type } of events) if (type === 'test:fail') process.exit(1)
  yield ''
}
