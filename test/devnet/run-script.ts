import { spawn } from 'node:child_process'

/** Runs a command in a folder, with `input` on its standard input, and gives its exit code. */
export function runScript(command: string, args: string[], cwd: string, input?: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['pipe', 'ignore', 'ignore'] })
    child.once('error', reject)
    child.once('close', code => resolve(code ?? -1))
    child.stdin.end(input)
  })
}
