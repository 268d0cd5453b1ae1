import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { addSettings } from './settings.ts'

/** Every page and action, one file each. They run in a scope that knows the visit, parses forms and has checked their tokens. */
export function addPages(app: FastifyInstance, ctx: Context): void {
  addSettings(app, ctx)
}
