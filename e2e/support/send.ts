import type { Response } from 'playwright-core'
import type { Tab } from './tab.ts'

/**
 * Sends a form to a path from the page that is shown, as a person would who made it by hand: with the session's own token unless `fields` give
 * another. Gives the answer to the form itself; the tab shows where that led.
 */
export async function send(tab: Tab, path: string, fields: Record<string, string> = {}): Promise<Response> {
  const { page } = tab
  const token = page.locator('input[name=_csrf]').first()
  const all = { ...((await token.count()) > 0 ? { _csrf: await token.inputValue() } : {}), ...fields }
  const [response] = await Promise.all([
    page.waitForResponse(answer => answer.request().method() === 'POST'),
    page.waitForEvent('load'),
    page.evaluate(
      `((path, fields) => {
        const form = document.createElement('form')
        form.method = 'post'
        form.action = path
        for (const [name, value] of Object.entries(fields)) {
          const input = document.createElement('input')
          Object.assign(input, { type: 'hidden', name, value })
          form.append(input)
        }
        document.body.append(form)
        form.submit()
      })(${JSON.stringify(path)}, ${JSON.stringify(all)})`,
    ),
  ])
  return response
}
