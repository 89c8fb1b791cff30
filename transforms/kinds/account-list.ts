import { type DecodedList, type InvalidBody, type LosslessJson, parseLossless } from '../../client/index.js';
import type { RawRecord } from '../../core/index.js';
import type { RecordOutput } from '../record/record-output.js';
import { accountPages } from '../tables/account-pages.js';
import type { AnswerRef } from '../tables/account-row.js';
import { numberIn, textIn } from './request-fields.js';
import type { Received, Transform } from './transform.js';

/** The context of a record of an account. */
export interface AccountContext {
  readonly answer: AnswerRef;
  readonly received: Received;
  readonly output: RecordOutput;
}

/**
 * Creates the transform of a response that lists records of an account: `add` transforms each record, and the page becomes
 * a row of `account_pages`. Numbers are read from the body's text without rounding.
 * @param add returns whether the record became a row of its list's table; otherwise it added a dead letter
 */
export function accountList<T>(
  decode: (body: LosslessJson) => DecodedList<T> | InvalidBody,
  add: (item: T, context: AccountContext) => boolean,
): Transform {
  return (received, output) => {
    const { record } = received;
    const body = losslessBody(received, output);
    const account = record.kind === 'account.activity' ? '' : accountOf(received, output);
    if (body === undefined || account === undefined) return;
    const list = decode(body);
    if (!list.ok) {
      output.dead(list, received.bodyText());
      return;
    }
    const answer = answerRefOf(record, account);
    let items = 0;
    for (const item of list.items) if (add(item, { answer, received, output })) items += 1;
    const page = {
      operation: textIn(record.request, 'operation') ?? '',
      asset: textIn(record.request, 'asset') ?? '',
      items,
      rejectedItems: list.items.length - items + list.invalidEntries.length + list.invalidEntriesOmitted,
    };
    output.row(accountPages, { answer, record: page });
    output.deadEntries(list);
    output.countExtraFields(list.extraFields.length);
  };
}

/** Parses a body without converting numbers to doubles; undefined, and a dead letter, when it is nested too deeply. */
export function losslessBody({ bodyText }: Received, output: RecordOutput): LosslessJson | undefined {
  try {
    const body = parseLossless(bodyText());
    output.reads(body);
    return body;
  } catch {
    output.dead({ path: 'body', reason: 'nested too deep to be read' }, bodyText());
    return undefined;
  }
}

/** The configured name of the account; undefined, and a dead letter, when the request has none. */
export function accountOf({ record, bodyText }: Received, output: RecordOutput): string | undefined {
  const account = textIn(record.request, 'account');
  if (account === undefined) {
    output.dead({ path: 'req.account', reason: 'expected the name of the account, got nothing' }, bodyText());
  }
  return account;
}

function answerRefOf({ receivedAt: at, request: req }: RawRecord, account: string): AnswerRef {
  const { query } = req as { readonly query?: Readonly<Record<string, unknown>> | null };
  const page = numberIn(req, 'page') ?? numberIn(query ?? {}, 'page') ?? 0;
  const whole = Number.isInteger(page) && page >= 0 && page <= 0xffff_ffff;
  return { receivedAt: at, account, pollId: textIn(req, 'poll') ?? '', page: whole ? page : 0 };
}
