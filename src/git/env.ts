/**
 * The whole environment that git is run in (GWY-14): nothing of the caller's but PATH and TMPDIR, no system or user configuration, no replaced
 * objects or grafts, no prompt, no transport, files for refs.
 */
export function gitEnv(extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    ...(process.env.TMPDIR === undefined ? {} : { TMPDIR: process.env.TMPDIR }),
    HOME: '/nonexistent',
    XDG_CONFIG_HOME: '/nonexistent',
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/nonexistent',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_DEFAULT_HASH: 'sha1',
    GIT_DEFAULT_REF_FORMAT: 'files',
    ...extra,
  }
}

/**
 * Configuration pinned on every command line (GWY-14): fixed rename settings and conflict style, no hooks, attributes, drivers or line-end
 * conversion, and memory that does not grow with a repository.
 */
export const pinnedConfig: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.attributesFile=/dev/null',
  'core.fsmonitor=false',
  'core.autocrlf=false',
  'core.ignoreCase=false',
  'core.bigFileThreshold=16m',
  'core.packedGitWindowSize=32m',
  'core.packedGitLimit=256m',
  'core.logAllRefUpdates=false',
  'merge.renames=true',
  'merge.directoryRenames=conflict',
  'merge.renameLimit=7000',
  'merge.conflictStyle=merge',
  'merge.renormalize=false',
  'merge.default=text',
  'diff.renames=true',
  'diff.renameLimit=7000',
  'diff.noprefix=false',
  'diff.mnemonicPrefix=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'pack.threads=2',
  'pack.packSizeLimit=0',
  'protocol.allow=never',
]
