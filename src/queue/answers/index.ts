/** The outputs of the XRPC queries, from a view; and the same in parts, for pages. */
export * from './context.ts'
export * from './lists.ts'
export * from './merge-status.ts'
export * from './pages.ts'
export * from './parts.ts'
export * from './queue.ts'
