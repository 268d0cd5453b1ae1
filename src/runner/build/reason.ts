/** What went wrong, for a line of the log: the message without paths of this machine. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/(['"]?)\/[^\s'"]*\1/g, '…').slice(0, 500)
}
