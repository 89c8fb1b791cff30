import type { FastifyReply } from 'fastify';
import type { ExchangeCore, Result } from '../../engine/index.js';
import { HttpError } from '../errors.js';
import type { Quirks } from '../quirks.js';

const MAX_MESSAGE_LENGTH = 300;

/** The value of a result. @throws HttpError with the status of its rejection */
export function accepted<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  const { kind, message } = result.rejection;
  throw new HttpError(kind === 'not-found' ? 404 : 400, message.slice(0, MAX_MESSAGE_LENGTH));
}

/** The same, once it is on disk: no success is reported before. @throws HttpError */
export async function durable<T>(core: Pick<ExchangeCore, 'durable'>, result: Result<T>): Promise<T> {
  const value = accepted(result);
  await core.durable();
  return value;
}

/** Responds to a successful DELETE. */
export const sendDeleted = (reply: FastifyReply, { deleteStatus }: Quirks): FastifyReply =>
  reply.code(deleteStatus).send(deleteStatus === 204 ? undefined : {});
