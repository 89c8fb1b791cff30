import { describeError, type Logger, UnavailableError } from '../../core/index.js';
import type { Connection } from '../../warehouse/index.js';
import type { HistoryName, SavedOrder } from './account-state.js';

/** Tables that keep each history: their ID, and the time that it is sorted by. */
const TABLES: Readonly<Record<HistoryName, { table: string; id: string; time: string }>> = {
  orders: { table: 'order_records', id: 'order', time: 'placed_at' },
  trades: { table: 'trade_records', id: 'trade_record', time: 'executed_at' },
  transactions: { table: 'transaction_records', id: 'transaction', time: 'created_at' },
  activity: { table: 'activity_records', id: 'trade_record', time: 'executed_at' },
};
/** Statuses that no order leaves any more. */
export const FINAL_STATUSES = ['FILLED', 'CANCELLED', 'CANCELED', 'FAILED', 'REJECTED', 'EXPIRED'];

const MAX_KNOWN = 1000;
/** Receipts that are looked at: the newest rows carry one of the newest polls. */
const RECENT_POLLS = 200;
const TIMEOUT_MS = 5000;

/** What the warehouse already has of the accounts: where the first walk of a history may stop. */
export class WarehouseMemory {
  #connecting: Promise<Connection | undefined> | undefined;
  #saidWhy = false;

  /** @param connect to the warehouse; undefined when none is to be asked. It may reject: then the local state counts */
  constructor(
    private readonly connect: (() => Promise<Connection>) | undefined,
    private readonly log: Logger,
  ) {}

  /**
   * IDs of records that the warehouse has and that came with a poll that was complete: so all older ones were received
   * too. Undefined when it cannot be asked.
   */
  async knownRecords(history: HistoryName, account: string | undefined, signal: AbortSignal) {
    const { table, id, time } = TABLES[history];
    const rows = await this.#ask<{ id: string }>(
      (database) =>
        `SELECT ${id} AS id FROM ${database}.${table} FINAL
         WHERE account = {account:String} AND poll GLOBAL IN (
           SELECT poll FROM ${database}.polls
           WHERE operation = {operation:String} AND subject = {subject:String} AND outcome = 'complete'
           ORDER BY finished_at DESC LIMIT ${RECENT_POLLS})
         ORDER BY ${time} DESC LIMIT ${MAX_KNOWN}`,
      { account: account ?? '', operation: history, subject: account ?? history },
      signal,
    );
    return rows?.map((row) => row.id);
  }

  /** The account's orders that were open when they were last seen. Undefined when it cannot be asked. */
  openOrders(account: string, signal: AbortSignal): Promise<SavedOrder[] | undefined> {
    return this.#ask<SavedOrder>(
      (database) =>
        `SELECT order AS order, nullIf(market, '') AS market, NULL AS remaining FROM ${database}.order_records FINAL
         WHERE account = {account:String} AND status NOT IN {final:Array(String)}`,
      { account, final: FINAL_STATUSES },
      signal,
    );
  }

  async close(): Promise<void> {
    const connection = await this.#connecting;
    await connection?.close();
  }

  async #ask<Row>(sql: (database: string) => string, params: Readonly<Record<string, unknown>>, signal: AbortSignal) {
    const connection = await this.#connection();
    if (!connection) return undefined;
    // Not AbortSignal.timeout: combined with another signal, it may be collected before it is due.
    const late = new AbortController();
    const reason = new UnavailableError(`ClickHouse did not answer within ${TIMEOUT_MS} ms`);
    const timer = setTimeout(() => late.abort(reason), TIMEOUT_MS);
    try {
      const limited = AbortSignal.any([signal, late.signal]);
      return await connection.query<Row>(sql(connection.database), params, limited);
    } catch (error) {
      signal.throwIfAborted();
      this.#sayWhy(error);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  #connection(): Promise<Connection | undefined> {
    const { connect } = this;
    this.#connecting ??= connect
      ? connect().catch((error: unknown) => {
          this.#sayWhy(error);
          return undefined;
        })
      : Promise.resolve(undefined);
    return this.#connecting;
  }

  #sayWhy(error: unknown): void {
    if (this.#saidWhy) return;
    this.#saidWhy = true;
    this.log.info(
      `the warehouse cannot tell what it has of the accounts (${describeError(error)}); ` +
        'their histories go on from where this collector was last',
    );
  }
}
