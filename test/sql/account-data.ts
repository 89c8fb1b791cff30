import type { Values } from './warehouse-data.js';

/** Rows of account tables, for tests that fill them by hand. */
let polls = 0;

/** The place of a row in the answer of an account. */
export function seen(account: string, receivedAt: string, poll: string, page = 0): Values {
  return { account, received_at: receivedAt, poll, page };
}

/** The receipt of a complete poll, and the page that it read. */
export function polled(
  operation: string,
  account: string,
  at: string,
  fields: Values = {},
): { poll: string; receipt: Values; page: Values } {
  polls += 1;
  const poll = `poll ${polls}`;
  const receipt = {
    started_at: at,
    finished_at: at,
    sid: 's',
    poll,
    operation,
    subject: account,
    expected: null,
    got: 1,
    unique: 1,
    pages: 1,
    truncated: false,
    outcome: 'complete',
    cause: '',
    ...fields,
  };
  return { poll, receipt, page: { ...seen(account, at, poll), operation, asset: '', items: 1, bad: 0 } };
}

/** A side of a fill. */
export function trade(account: string, record: string, fields: Values): Values {
  return {
    ...seen(account, '2026-01-06 00:00:00', 'first'),
    trade_record: record,
    trade: `trade of ${record}`,
    side: 'BUY',
    event: 'e',
    market: 'm',
    asset: 'y',
    quantity: '1',
    price: '0.5',
    fee: '0',
    executed_at: '2026-01-05 12:00:00',
    ...fields,
  };
}
