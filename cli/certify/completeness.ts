import type { Bus, PartitionInfo } from '../../bus/index.js';
import type { Query } from '../../certify/index.js';
import { systemClock, UnavailableError } from '../../core/index.js';
import { quoteText } from '../../warehouse/index.js';

const CHECK_MS = 1000;
const TIMEOUT_MS = 300_000;
/** Polls that a message names. */
const MAX_NAMED = 3;

/** Operations that read a list of an account at once, or a history back to a known record. */
const OPERATIONS = ['orders', 'trades', 'full-balances', 'open-positions', 'active-orders'];
/** Needs a login. */
const TRANSACTIONS = 'transactions';
const LISTS = ['positions', 'balances', 'active-orders'];
/** They are compared with the histories that were read after them. */
const RECONCILED_LISTS = ['positions', 'balances'];

export interface PolledAccount {
  readonly name: string;
  /** Whether it has the login that its transactions need. */
  readonly readsTransactions: boolean;
}

/**
 * Waits until every list and history of every account was read completely after a moment, and its rows are in ClickHouse; and until
 * the histories were read again after the lists, for an older list would be reconciled otherwise.
 * @param sinceMicros Unix microseconds
 */
export async function untilPolled(
  query: Query,
  polled: readonly PolledAccount[],
  sinceMicros: number,
  signal: AbortSignal,
): Promise<void> {
  if (polled.length === 0) return;
  const accounts = polled.map(({ name }) => name);
  const since = `fromUnixTimestamp64Micro(${sinceMicros})`;
  const wantedPolls = polled.flatMap(({ name, readsTransactions }) =>
    [...OPERATIONS, ...(readsTransactions ? [TRANSACTIONS] : [])].map((operation) => `${operation} of ${name}`),
  );
  const missingPolls = async () => {
    const complete = await query<{ poll: string }>(`
      SELECT DISTINCT concat(operation, ' of ', subject) AS poll FROM polls
      WHERE outcome = 'complete' AND started_at > ${since} AND subject IN (${texts(accounts)})`);
    const found = new Set(complete.map(({ poll }) => poll));
    return wantedPolls.filter((poll) => !found.has(poll));
  };
  const counts = {
    'complete histories': [
      accounts.length,
      `SELECT count() AS count FROM account_completeness
      WHERE complete_to > ${since} AND account IN (${texts(accounts)})`,
    ],
    'complete activity feed': [
      1,
      `SELECT count() AS count FROM history_completeness
      WHERE operation = 'activity' AND complete_to > ${since}`,
    ],
    'stored lists': [
      accounts.length * LISTS.length,
      `SELECT uniqExact(list, account) AS count FROM latest_account_polls
      WHERE list IN (${texts(LISTS)}) AND started_at > ${since} AND account IN (${texts(accounts)})`,
    ],
    'lists that are older than the complete histories': [
      accounts.length * RECONCILED_LISTS.length,
      `SELECT uniqExact(list, account) AS count
      FROM (
        SELECT list, account, finished_at FROM recent_account_polls
        WHERE list IN (${texts(RECONCILED_LISTS)}) AND started_at > ${since} AND account IN (${texts(accounts)})
      ) AS polled
      INNER JOIN account_completeness USING (account)
      WHERE finished_at <= complete_to`,
    ],
    'accounts with a known user': [
      accounts.length,
      `SELECT uniqExact(account) AS count FROM profile_stats
      WHERE user_id != '' AND account IN (${texts(accounts)})`,
    ],
  } as const;
  await until('the polls of the accounts', signal, async () => {
    const missing = await missingPolls();
    if (missing.length > 0) {
      const named = missing.slice(0, MAX_NAMED).join(', ');
      return `${missing.length} of ${wantedPolls.length} are not complete: ${named}${missing.length > MAX_NAMED ? ', …' : ''}`;
    }
    for (const [name, [wanted, sql]] of Object.entries(counts)) {
      const count = (await query<{ count: number }>(sql))[0]?.count ?? 0;
      if (count < wanted) return `${count} of ${wanted} ${name}`;
    }
    return undefined;
  });
}

/** Waits until every record that is on the bus now has been processed; returns where the partitions ended. */
export async function untilProcessed(bus: Bus, group: string, signal: AbortSignal): Promise<PartitionInfo[]> {
  const partitions = await bus.partitions();
  await until('the worker', signal, async () => {
    const committed = new Map((await bus.committed(group)).map((c) => [`${c.topic}/${c.partition}`, c.offset]));
    const lag = partitions.reduce(
      (sum, { topic, partition, begin, end }) =>
        sum + Math.max(0, end - (committed.get(`${topic}/${partition}`) ?? begin)),
      0,
    );
    return lag === 0 ? undefined : `${lag} records are not processed`;
  });
  return partitions;
}

/** @param missing what is still awaited; undefined when it is there */
async function until(what: string, signal: AbortSignal, missing: () => Promise<string | undefined>): Promise<void> {
  const endsAt = performance.now() + TIMEOUT_MS;
  for (;;) {
    const text = await missing().catch((error: Error) => error.message);
    if (text === undefined) return;
    if (performance.now() > endsAt) {
      throw new UnavailableError(`${what} did not complete within ${TIMEOUT_MS / 1000} s: ${text}`);
    }
    await systemClock.sleep(CHECK_MS, signal);
  }
}

const texts = (values: readonly string[]): string => values.map(quoteText).join(', ');
