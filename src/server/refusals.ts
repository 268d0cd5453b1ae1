/** How refusals travel over HTTP: one table from code to status and XRPC name. */

/** An expected refusal: the code for programs, the rest for people. */
export interface Refusal {
  code: string
  message: string
  advice?: string
}

const statuses: Readonly<Record<string, number>> = {
  'bad-request': 400,
  'cross-site': 403,
  'form-expired': 403,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  'not-found': 404,
  'rate-limited': 429,
  'stale-log-in': 400,
  'signed-out': 401,
  'too-large': 413,
  'unsupported-type': 415,
  'upstream-failed': 502,
}

/** HTTP status of a refusal on a page; 422 for what the rules refuse. */
export function statusOf(code: string): number {
  return statuses[code] ?? 422
}

/** The name of a refusal as an XRPC error: the same word in PascalCase. */
export function xrpcName(code: string): string {
  return code.replace(/(^|-)([a-z])/g, (_match, _dash, letter: string) => letter.toUpperCase())
}
