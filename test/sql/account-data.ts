import type { Values } from './warehouse-data.js';

/** Rows of account tables, for tests that fill them by hand. */
let polls = 0;

/** The position of a row in the response of an account. */
export function seen(account: string, receivedAt: string, poll: string, page = 0): Values {
  return { account, received_at: receivedAt, poll_id: poll, page };
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
    session_id: 's',
    poll_id: poll,
    operation,
    subject: account,
    expected_items: null,
    received_items: 1,
    distinct_items: 1,
    pages: 1,
    truncated: false,
    outcome: 'complete',
    cause: '',
    ...fields,
  };
  return { poll, receipt, page: { ...seen(account, at, poll), operation, asset: '', items: 1, rejected_items: 0 } };
}

/** A side of a fill. */
export function trade(account: string, record: string, fields: Values): Values {
  return {
    ...seen(account, '2026-01-06 00:00:00', 'first'),
    trade_record_id: record,
    trade_id: `trade of ${record}`,
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
