import { FRAME_TOO_LARGE } from '../../core/index.js';

type Request = Readonly<Record<string, unknown>>;

/** A non-empty text of `req`. */
export function textIn(req: Request, name: string): string | undefined {
  const value = req[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A number of `req`. */
export function numberIn(req: Request, name: string): number | undefined {
  const value = req[name];
  return typeof value === 'number' ? value : undefined;
}

/**
 * Whether the response has an error status or is incomplete. It then has no data of the market; the poll's receipt says
 * whether a retry succeeded.
 */
export function isFailedResponse(req: Request): boolean {
  const status = numberIn(req, 'status');
  return textIn(req, 'cut') !== undefined || (status !== undefined && (status < 200 || status > 299));
}

/** The entries of an order book frame that repeat the previous entry of their market, by number. */
export function repeatedEntries(req: Request): ReadonlySet<unknown> | undefined {
  const numbers = req['repeated'];
  return Array.isArray(numbers) ? new Set(numbers) : undefined;
}

/** Whether the record is the beginning of a frame above the maximum size. */
export function isOversizedFrame(req: Request): boolean {
  return typeof req['oversized'] === 'object' && req['oversized'] !== null;
}

/** The reason of its dead letter, and its length, which is unknown for a message in several frames. */
export function describeOversized(req: Request): { reason: string; declaredBytes: number | undefined } {
  const declared = (req['oversized'] as Request)['declaredBytes'];
  const declaredBytes =
    typeof declared === 'number' && Number.isSafeInteger(declared) && declared >= 0 ? declared : undefined;
  const reason = declaredBytes === undefined ? `${FRAME_TOO_LARGE}, of unknown length` : FRAME_TOO_LARGE;
  return { reason, declaredBytes };
}
