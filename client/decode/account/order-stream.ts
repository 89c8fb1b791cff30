import { orderUpdateSchema, tpslUpdateSchema } from '../../wire/account-streams.js';
import type { Decimal } from '../../wire/decimal.js';
import type { LosslessJson } from '../../wire/json-number.js';
import { expected } from '../../wire/validation-issue.js';
import { type InvalidBody, invalid } from '../result.js';
import { isRecord, readRecord } from './records.js';
import { readEnvelope, type StreamControl } from './stream-envelope.js';

/** A message of the order updates stream, part 6.3. */
export type OrderStreamMessage =
  | {
      /** An order was placed, or failed. */
      readonly type: 'order-update';
      readonly orderId: string;
      readonly userId: string | null;
      /** SUCCESS or FAILED. */
      readonly status: string | null;
    }
  | {
      /** A TP/SL order changed its state. */
      readonly type: 'tpsl-update';
      readonly tpslId: string;
      readonly userId: string | null;
      readonly assetId: string | null;
      /** Shares. */
      readonly quantity: Decimal | null;
      readonly takeProfitPrice: Decimal | null;
      readonly stopLossPrice: Decimal | null;
      /** For example ACTIVE. */
      readonly status: string | null;
    }
  | StreamControl
  | (InvalidBody & { readonly type: 'invalid' });

/** Decodes a frame of the order updates stream. Never throws. */
export function decodeOrderStreamMessage(message: LosslessJson): OrderStreamMessage {
  const body: unknown = message;
  if (!isRecord(body)) return bad('', expected('an object', body));
  const { d } = body;
  const envelope = readEnvelope(body);
  if (envelope.type !== 'open') return envelope;
  switch (envelope.t) {
    case 'success':
      return { type: 'authorized' };
    case 'ORDER_UPDATE': {
      const record = readRecord(d, 0, 'd', orderUpdateSchema);
      if (!record.ok) return bad(record.invalidEntry.path, record.invalidEntry.reason);
      const { i, u, s } = record.wire;
      return { type: 'order-update', orderId: i, userId: u ?? null, status: s ?? null };
    }
    case 'TPSL_UPDATE': {
      const record = readRecord(d, 0, 'd', tpslUpdateSchema);
      if (!record.ok) return bad(record.invalidEntry.path, record.invalidEntry.reason);
      const { i, u, a, q, tpp, slp, s } = record.wire;
      return {
        type: 'tpsl-update',
        tpslId: i,
        userId: u ?? null,
        assetId: a ?? null,
        quantity: q ?? null,
        takeProfitPrice: tpp ?? null,
        stopLossPrice: slp ?? null,
        status: s ?? null,
      };
    }
    default:
      return envelope.t === null
        ? bad('t', expected('a string', body['t']))
        : { type: 'unknown', wireType: envelope.t };
  }
}

const bad = (path: string, reason: string): OrderStreamMessage => ({ type: 'invalid', ...invalid(path, reason) });
