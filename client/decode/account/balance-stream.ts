import { balanceSchema } from '../../wire/account-records.js';
import { balanceUpdateSchema } from '../../wire/account-streams.js';
import type { Decimal } from '../../wire/decimal.js';
import type { LosslessJson } from '../../wire/json-number.js';
import { expected } from '../../wire/validation-issue.js';
import { type InvalidBody, InvalidEntries, type InvalidEntry, invalid, type JsonObject } from '../result.js';
import { isRecord, readRecord } from './records.js';
import { readEnvelope, type StreamControl } from './stream-envelope.js';
import { type Balance, balanceOf } from './wallet.js';

/** A message of the balance stream, part 6.4. */
export type BalanceStreamMessage =
  | {
      /** The response to AUTH, as documented: all current balances. */
      readonly type: 'balances';
      readonly balances: readonly Balance[];
      /** The first 100 invalid entries. */
      readonly invalidEntries: readonly InvalidEntry[];
      /** Number of invalid entries beyond the first 100. */
      readonly invalidEntriesOmitted: number;
    }
  | {
      readonly type: 'balance-update';
      readonly userId: string | null;
      readonly assetId: string;
      /** Average purchase price of the holding. */
      readonly averageOpenPrice: Decimal | null;
      /** USDC. */
      readonly cost: Decimal | null;
      readonly balance: Decimal;
      /** The amount that is not locked by orders. */
      readonly free: Decimal | null;
    }
  | StreamControl
  | (InvalidBody & { readonly type: 'invalid' });

/**
 * Decodes a frame of the balance stream. Never throws. In the documented sample an update has no `t` and its fields are at
 * the top level; with an unknown `t` they may also be in `d`.
 */
export function decodeBalanceStreamMessage(message: LosslessJson): BalanceStreamMessage {
  const body: unknown = message;
  if (!isRecord(body)) return bad('', expected('an object', body));
  const envelope = readEnvelope(body);
  if (envelope.type !== 'open') return envelope;
  const { d } = body;
  if (envelope.t === 'success') return balancesOf(d);
  if (looksLikeUpdate(body)) return updateOf(body, '');
  if (envelope.t === null) return bad('a', expected('a string', body['a']));
  return isRecord(d) && looksLikeUpdate(d) ? updateOf(d, 'd') : { type: 'unknown', wireType: envelope.t };
}

const looksLikeUpdate = (value: JsonObject): boolean => 'a' in value && 'b' in value;

function balancesOf(d: unknown): BalanceStreamMessage {
  const list = isRecord(d) ? d['l'] : undefined;
  if (list === undefined) return { type: 'authorized' };
  if (!Array.isArray(list)) return bad('d.l', expected('an array', list));
  const balances: Balance[] = [];
  const badEntries = new InvalidEntries();
  for (const [index, value] of list.entries()) {
    if (badEntries.skips(value)) continue;
    const record = readRecord(value, index, `d.l[${index}]`, balanceSchema);
    if (record.ok) balances.push(balanceOf(record.wire));
    else badEntries.push(record.invalidEntry);
  }
  return { type: 'balances', balances, invalidEntries: badEntries.entries, invalidEntriesOmitted: badEntries.omitted };
}

function updateOf(value: JsonObject, path: string): BalanceStreamMessage {
  const record = readRecord(value, 0, path, balanceUpdateSchema);
  if (!record.ok) return bad(record.invalidEntry.path, record.invalidEntry.reason);
  const { u, a, aop, c, b, f } = record.wire;
  return {
    type: 'balance-update',
    userId: u ?? null,
    assetId: a,
    averageOpenPrice: aop ?? null,
    cost: c ?? null,
    balance: b,
    free: f ?? null,
  };
}

const bad = (path: string, reason: string): BalanceStreamMessage => ({ type: 'invalid', ...invalid(path, reason) });
