/** The typed model of each page, one file per subject. Answers of the XRPC queries fit into them; only what pages need is added. */
export type * from './models/check.ts'
export type * from './models/doors.ts'
export type * from './models/frame.ts'
export type * from './models/pull.ts'
export type * from './models/queue.ts'
export type * from './models/repo-settings.ts'
export type * from './models/repositories.ts'
export type * from './models/words.ts'
