/** Scopes as OAuth writes them: words with spaces between. Order and repetition mean nothing. */

/** Whether everything that was asked for was granted; servers drop what they do not know without a word. */
export function grants(granted: string, wanted: string): boolean {
  const parts = new Set(words(granted))
  return words(wanted).every(part => parts.has(part))
}

/** All words of these scopes, each once. */
export function union(...scopes: readonly string[]): string {
  return [...new Set(scopes.flatMap(words))].join(' ')
}

/** The words of one scope that another has too. */
export function common(scope: string, other: string): string {
  const parts = new Set(words(other))
  return words(scope)
    .filter(part => parts.has(part))
    .join(' ')
}

function words(scope: string): string[] {
  return scope.split(/\s+/).filter(word => word !== '')
}
