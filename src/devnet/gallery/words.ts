/** Every word that the gallery says on the terminal. */
export const words = {
  usage: `Usage: npm run gallery [-- --port N]

Every state of the merge box on this machine alone: a local atproto network, the server, and a pull for each state, put there by records.
It is made afresh at each start and runs until Ctrl-C.

  --port N   the list's port (2600); the server takes the next one; 0 picks free ones`,
  wrongPort: (value: string) => `gallery: --port wants 0 or a number from 1 to 65534, not "${value}"`,
  starting: 'Starting a local network and writing the records of every state …',
  stopping: 'Stopping …',
  broke: 'The gallery broke.',
  late: 'The server has not read everything yet; its pages fill by themselves.',
  reportFailed: (why: string) => `A lander's pass could not be told: ${why}`,
  welcome: (list: string, count: number, accounts: readonly { handle: string; password: string }[]) =>
    [
      '',
      `${count} states of the merge box: ${list}`,
      '',
      'Many of them differ by who looks. Log in there with a handle; the password goes to the account’s own server:',
      ...accounts.map(({ handle, password }) => `  ${handle.padEnd(13)} ${password}`),
      '',
      'Ctrl-C stops everything.',
    ].join('\n'),
}
