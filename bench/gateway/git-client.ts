/** What a git client says over HTTP, in as few requests as it takes, so that what is timed is the server. */
import { gitEnv } from '../../src/git/env.ts'
import { runGit } from '../../src/git/run.ts'

function pkt(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text
}

const v2 = { 'git-protocol': 'version=2' }

/** A clone of one branch as the wire has it: discovery, refs, the pack. Gives milliseconds and the bytes of the pack's answer. */
export async function rawClone(url: string, branch: string): Promise<{ ms: number; bytes: number }> {
  const started = performance.now()
  await bytesOf(await fetch(`${url}/info/refs?service=git-upload-pack`, { headers: v2 }))
  const refs = await post(url, 'git-upload-pack', `${pkt('command=ls-refs\n')}0001${pkt('peel\n')}${pkt('ref-prefix refs/heads/\n')}0000`)
  const commit = new RegExp(`([0-9a-f]{40}) refs/heads/${branch}\n`).exec(refs.toString('latin1'))?.[1]
  if (commit === undefined) throw new Error(`no branch ${branch} at ${url}`)
  const asked = `${pkt('command=fetch')}0001${pkt('ofs-delta')}${pkt('no-progress')}${pkt(`want ${commit}\n`)}${pkt('done\n')}0000`
  const answer = await fetch(`${url}/git-upload-pack`, { method: 'POST', headers: { ...v2, ...typeOf('git-upload-pack') }, body: asked })
  let bytes = 0
  for await (const chunk of answer.body ?? []) bytes += chunk.length
  if (!answer.ok || bytes < 1_000) throw new Error(`no pack from ${url}: ${answer.status}`)
  return { ms: performance.now() - started, bytes }
}

/** A push of a pack that is made already: discovery, then the commands with the pack. Gives milliseconds of the server. */
export async function rawPush(
  url: string,
  push: { ref: string; commit: string; pack: Buffer; token: string },
): Promise<{ discovery: number; push: number }> {
  const headers = { authorization: `Basic ${Buffer.from(`bench:${push.token}`).toString('base64')}` }
  const started = performance.now()
  await bytesOf(await fetch(`${url}/info/refs?service=git-receive-pack`, { headers }))
  const discovered = performance.now()
  const command = pkt(`${'0'.repeat(40)} ${push.commit} ${push.ref}\0report-status side-band-64k object-format=sha1 agent=bench`)
  const said = (await post(url, 'git-receive-pack', Buffer.concat([Buffer.from(`${command}0000`), push.pack]), headers)).toString('latin1')
  const done = performance.now()
  if (!said.includes(`ok ${push.ref}`)) throw new Error(`the push was refused: ${said.slice(0, 500)}`)
  return { discovery: discovered - started, push: done - discovered }
}

async function post(url: string, service: string, body: string | Buffer, headers: Record<string, string> = v2): Promise<Buffer> {
  const sent = typeof body === 'string' ? body : new Uint8Array(body)
  return await bytesOf(await fetch(`${url}/${service}`, { method: 'POST', headers: { ...headers, ...typeOf(service) }, body: sent }))
}

function typeOf(service: string): Record<string, string> {
  return { 'content-type': `application/x-${service}-request` }
}

async function bytesOf(answer: Response): Promise<Buffer> {
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok) throw new Error(`${answer.url} answers ${answer.status}: ${bytes.toString('utf8').slice(0, 300)}`)
  return bytes
}

/** Runs the stock client and gives the milliseconds that it took. */
export async function timedGit(args: readonly string[], dir?: string): Promise<number> {
  const started = performance.now()
  const run = await runGit(args, {
    ...(dir === undefined ? {} : { dir }),
    env: { GIT_ALLOW_PROTOCOL: 'http' },
    config: ['protocol.allow=always'],
    timeoutMs: 120_000,
  })
  if (run.code !== 0) throw new Error(`git ${args[0]} ended with ${run.code}: ${run.stderr.slice(0, 500)}`)
  return performance.now() - started
}

/** A new commit on top of another, with one file more, as its id and the pack of what is new. */
export async function smallChange(gitDir: string, on: string, name: string): Promise<{ commit: string; pack: Buffer }> {
  const blob = await line(gitDir, ['hash-object', '-w', '--stdin'], `A pear, ${name}\n`)
  const listed = await runGit(['ls-tree', on], { dir: gitDir })
  const tree = await line(gitDir, ['mktree'], `${listed.stdout.toString('utf8')}100644 blob ${blob}\tpear-${name}.txt\n`)
  const who = 'A Grower <grower@example.com> 1790000000 +0000'
  const text = `tree ${tree}\nparent ${on}\nauthor ${who}\ncommitter ${who}\n\nAdd a pear, ${name}\n`
  const commit = await line(gitDir, ['hash-object', '-t', 'commit', '-w', '--stdin'], text)
  const pack = await runGit(['pack-objects', '--revs', '--thin', '--stdout', '-q'], { dir: gitDir, input: `${commit}\n^${on}\n` })
  return { commit, pack: pack.stdout }
}

/** What git prints on its one line. */
export async function line(gitDir: string, args: readonly string[], input = '', env: Record<string, string> = gitEnv()): Promise<string> {
  const run = await runGit(args, { dir: gitDir, input, env })
  if (run.code !== 0) throw new Error(`git ${args[0]}: ${run.stderr}`)
  return run.stdout.toString('latin1').trim()
}
