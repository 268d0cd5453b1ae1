import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'

/** Every page and action, one file each. They run in a scope that knows the visit, parses forms and has checked their tokens. */
export function addPages(_app: FastifyInstance, _ctx: Context): void {}
