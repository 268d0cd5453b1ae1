import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'

/** The way in and out. */
export function addLogIn(_app: FastifyInstance, _ctx: Context): void {}
