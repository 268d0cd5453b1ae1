/** What the runner's program says for itself: usage, what is wrong with its flags and environment, and its log lines' plain sentences. */

export const usage = `Usage: knotless runner --repo HANDLE/NAME… [FLAGS]

Lands the queues of repositories, and runs their workflows. Its account is KNOTLESS_HANDLE with KNOTLESS_PASSWORD, an app password.

  --repo HANDLE/NAME    a repository, as its owner's handle or DID and its name; again for each further one
  --queue               land its queues (needs an executor that isolates)
  --pulls WHOSE         run open pulls by themselves: owner, collaborators or all
  --batch N             pulls in a batch at most, 1 to 50 (8)
  --depth N             batches in flight at most, 1 or 2 (2)
  --wait TIME           how long a batch that is not full waits to fill (0s)
  --notice TIME         how often it looks by itself (30s)
  --sweep TIME          how often every repository is gone through whatever rang (5m)
  --jobs N              runs at once, 1 to 64 (2)
  --timeout TIME        the longest that one run may take (45m)
  --secrets FILE        secrets by repository, for pushes only; a file that nobody else can read
  --executor KIND       docker or host (docker)
  --socket PATH         where the container engine listens
  --image NAME          the image of workflows that name none
  --allow-network       let workflows that ask for the network have it
  --i-trust-every-author  with --executor host, where every address is this machine's own: runs are not isolated
  --once                make one pass, finish what it began, and stop; prints what it did as JSON lines
  --dry-run             say what a pass would do and why, and write nothing
  --log FORM            text or json (text)
  --listen ADDRESS      host:port, or a port of this machine, for /metrics and /healthz
  --ready-file PATH     write this file once every repository was gone through

Environment: KNOTLESS_HANDLE, KNOTLESS_PASSWORD, KNOTLESS_APPVIEW (the server's address, or its DID), KNOTLESS_JETSTREAM, KNOTLESS_DATA (a folder for
mirrors and the session), and as for knotless serve KNOTLESS_PLC, KNOTLESS_HANDLE_RESOLVER, KNOTLESS_ALLOW_LOOPBACK.`

/** What each flag and variable wants: the second half of the line that stops the program. */
export const wants = {
  '--repo': 'a repository as HANDLE/NAME, such as alice.example.com/orchard; at most 1000 of them',
  '--pulls': 'owner, collaborators or all',
  '--batch': 'a number from 1 to 50',
  '--depth': '1 or 2',
  '--wait': 'a time such as 30s or 5m',
  '--notice': 'a time from 1s to 1h, such as 30s',
  '--sweep': 'a time from 10s to 24h, such as 5m',
  '--jobs': 'a number from 1 to 64',
  '--timeout': 'a time from 1s to 24h, such as 45m',
  '--secrets': 'the path of a JSON file, {"HANDLE/NAME": {"NAME": "value"}}, that only its owner can read',
  '--executor': 'docker or host',
  '--socket': 'the path of a container engine’s socket',
  '--image': 'the name of a container image',
  '--log': 'text or json',
  '--listen': 'host:port, or a port of this machine',
  '--ready-file': 'the path of a file',
  KNOTLESS_HANDLE: 'the handle or DID of the runner’s account',
  KNOTLESS_PASSWORD: 'an app password of that account',
  KNOTLESS_APPVIEW: 'the address of a knotless server, such as https://queue.example.com, or its DID',
  KNOTLESS_JETSTREAM: 'the address of a Jetstream, such as wss://jetstream.example.org/subscribe',
  KNOTLESS_DATA: 'the folder for mirrors and the session',
  KNOTLESS_PLC: 'the address of a PLC directory, such as https://plc.directory',
  KNOTLESS_HANDLE_RESOLVER: 'the address of a service that resolves handles',
  KNOTLESS_ALLOW_LOOPBACK: '1 or 0',
} as const

export const words = {
  unknownFlag: (said: string) => `knotless runner: ${said} (--help says more)`,
  hostRefused: '--executor host does not isolate, and --queue and --pulls run code that anyone can open a pull with: use --executor docker',
  hostOffLoopback: '--i-trust-every-author holds only where every address is this machine’s own, and these are not',
  notIsolated: 'runs are not isolated from this machine',
  notReady: 'the file that says that it is ready cannot be written',
  folderHeld: 'KNOTLESS_DATA: another runner holds that folder',
  noAccount: 'KNOTLESS_HANDLE: there is no such account, or it cannot be looked up now',
  noOwner: (repo: string) => `--repo ${repo}: there is no such account, or it cannot be looked up now`,
  noAppview: 'KNOTLESS_APPVIEW: there is no knotless server at that DID, or it cannot be looked up now',
  logInFailed: (said: string) => `the runner could not log in: ${said}`,
  secretsOpen: '--secrets: others can read that file; take that from them first (chmod 600)',
  secretsBad: '--secrets: that file cannot be read, or is not {"HANDLE/NAME": {"NAME": "value"}}',
  noEngine: (tried: readonly string[]) =>
    `no container engine answers (looked at ${tried.join(', ')}): start Docker or Podman, or name its socket with --socket`,
  broke: 'the runner could not start',
  runs: (repos: number) => `knotless runner looks after ${repos} ${repos === 1 ? 'repository' : 'repositories'}`,
  stopping: 'stopping: runs under way are waited for; a second signal ends them',
}
