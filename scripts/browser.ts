import { execFileSync, spawnSync } from 'node:child_process'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

function found(): string | undefined {
  const wanted = process.env.KNOTLESS_CHROMIUM
  for (const name of wanted ? [wanted] : names) {
    const which = spawnSync('sh', ['-c', 'command -v -- "$1"', 'sh', name], { encoding: 'utf8' })
    if (which.status === 0) return which.stdout.trim()
  }
  return undefined
}

/**
 * The path of a Chromium for the browser tests: `KNOTLESS_CHROMIUM`, one on the PATH, or, as root on a Debian machine, one installed now.
 * Gives undefined, having said why, when there is none; the browser tests are then skipped and counted as skipped.
 */
export function findBrowser(): string | undefined {
  const present = found()
  if (present) return present
  const apt = spawnSync('sh', ['-c', 'command -v apt-get'])
  if (process.getuid?.() !== 0 || apt.status !== 0) {
    console.log('SKIPPED: the browser tests need Chromium. Install it, or name one in KNOTLESS_CHROMIUM.')
    return undefined
  }
  console.log('Installing Chromium for the browser tests …')
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    execFileSync('apt-get', ['update', '-qq'], { stdio: ['ignore', 'ignore', 'inherit'], env, timeout: 300_000 })
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env,
      timeout: 600_000,
    })
  } catch {
    console.log('SKIPPED: Chromium could not be installed, so the browser tests do not run.')
    return undefined
  }
  return found()
}
