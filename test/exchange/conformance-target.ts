import type { ReadyLine } from '../../exchange/index.js';
import { startTestExchange } from '../support/exchange.js';
import { connectionTo, type ExchangeConnection } from '../support/exchange-connection.js';

/** Names another exchange to test: its ready line, as `chancery exchange` prints it. */
const OTHER = 'CHANCERY_EXCHANGE_READY';

/** A quiet exchange for all tests of a file: a process of its own, or the one that `CHANCERY_EXCHANGE_READY` names. */
export async function conformanceTarget(): Promise<ExchangeConnection> {
  const named = process.env[OTHER];
  if (named !== undefined) return connectionTo(JSON.parse(named) as ReadyLine);
  return startTestExchange({ ownProcess: true, events: 2, accounts: 3 });
}
