import { Backoff, describeError, IntegrityError, isPermanent } from '../../core/index.js';
import type { TableBlock, TableDefinition } from '../table.js';
import type { BatchRange, BlockStore } from './block-store.js';
import { commitIntent } from './commits.js';
import type { Intent } from './intent.js';
import { assertOwned, NotOwnedError } from './ownership.js';
import { describeRange, type PendingBatch, queryIdOf, report, storeOf, tokenOf } from './pending-batch.js';
import type { WriterContext } from './writer-context.js';

/** The writer stops after this many consecutive permanent errors. */
const MAX_REFUSALS = 3;
/** The writer stops after this many tokens without rows; each takes a kill of the server at one exact moment. */
const MAX_ATTEMPTS = 8;
const POLL_MS = 50;

/** Sends every block once, with the batch's token. Resolves only when each was a clear success. */
export async function sendAll(context: WriterContext, batch: PendingBatch): Promise<void> {
  const store = storeOf(context, batch.intent);
  const blocks = await batch.blocks();
  const beforeSend = await assertOwned(context);
  await waitForAll(
    blocks.map((block) =>
      store.insert(block, {
        token: tokenOf(batch.range),
        queryId: queryIdOf(batch.range, 0, block.table.name),
        beforeSend,
        signal: context.signal,
      }),
    ),
  );
}

/**
 * Brings ClickHouse to the state in which every row of the batch is stored once: after a response that was not a clear
 * success, and when a partition with an intent is taken over. Retries until it succeeds.
 * @param failure the error of the first attempt, if there was one
 * @throws IntegrityError when rows are duplicated, rejected or cannot be rebuilt; the partition's error when it is lost
 */
export async function reconcile(context: WriterContext, batch: PendingBatch, failure?: unknown): Promise<void> {
  const { signal, clock, timing } = context;
  const reconciliation = new Reconciliation(context, batch);
  const backoff = new Backoff({ baseMs: timing.retryBaseMs, capMs: timing.retryCapMs }, context.random);
  let refusals = isPermanent(failure) ? 1 : 0;
  let cause = failure;
  for (;;) {
    signal.throwIfAborted();
    if (cause !== undefined) {
      if (refusals >= MAX_REFUSALS) throw refusedError(batch, cause);
      const delayMs = backoff.nextDelayMs();
      report(context, batch, { type: 'waiting', cause: describeError(cause), delayMs });
      await clock.sleep(delayMs, signal);
      await assertOwned(context);
    }
    try {
      while (!(await reconciliation.step())) signal.throwIfAborted();
      return;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof IntegrityError || error instanceof NotOwnedError) throw error;
      cause = error;
      refusals = isPermanent(error) ? refusals + 1 : 0;
    }
  }
}

/** Whether rows of the batch may be stored by batches with other ranges, so that no token would recognise them. */
export const mayBeStored = ({ partition }: WriterContext, { start }: BatchRange): boolean =>
  start < (partition.storedBefore ?? 0);

/** Waits until the server runs no insert of a begun batch; kills those that take too long. */
export async function waitForInserts(context: WriterContext, range: BatchRange, intent: Intent): Promise<void> {
  const { clock, signal, timing } = context;
  const store = storeOf(context, intent);
  const ids: string[] = [];
  for (let attempt = 0; attempt <= intent.attempt; attempt++) {
    for (const table of Object.keys(intent.n)) ids.push(queryIdOf(range, attempt, table));
  }
  const since = clock.elapsedMs();
  while (ids.length > 0 && (await store.countRunning(ids, signal)) > 0) {
    if (clock.elapsedMs() - since > timing.killAfterMs) await store.kill(ids, signal);
    await clock.sleep(POLL_MS, signal);
  }
}

/** The state of reconciling one batch; a step may fail at any point and be repeated. */
class Reconciliation {
  #intent: Intent;
  /** Tables whose insert was a clear success in the current attempt. */
  #sent = new Set<string>();
  /** Tables that had no rows of the batch at first. */
  readonly #empty = new Set<string>();
  /** Tables whose materialized views have processed the complete batch. */
  readonly #viewsFed = new Set<string>();
  readonly #store: BlockStore;

  constructor(
    private readonly context: WriterContext,
    private readonly batch: PendingBatch,
  ) {
    this.#intent = batch.intent;
    this.#store = storeOf(context, batch.intent);
  }

  /** Waits until no insert of the batch runs, counts its rows, sends the missing ones. True when all are stored. */
  async step(): Promise<boolean> {
    await waitForInserts(this.context, this.batch.range, this.#intent);
    const incomplete = await this.#incomplete();
    if (incomplete.length === 0) {
      await this.#feedViews();
      return true;
    }
    if (incomplete.some((table) => this.#sent.has(table.name))) {
      await this.#nextAttempt();
      return false;
    }
    const blocks = (await this.batch.blocks()).filter((block) => incomplete.includes(block.table));
    const beforeSend = await assertOwned(this.context);
    await waitForAll(blocks.map((block) => this.#send(block, this.#intent.attempt, beforeSend)));
    return false;
  }

  /**
   * Inserts only the missing rows of a log table: stored rows are then not duplicated even if the server, which remembers a
   * limited number of tokens, has forgotten this one.
   */
  async #send(block: TableBlock, attempt: number, beforeSend: () => void): Promise<void> {
    const { range } = this.batch;
    const { name, kind } = block.table;
    await this.#store.insert(block, {
      token: tokenOf(range, attempt),
      queryId: queryIdOf(range, attempt, name),
      ...(kind === 'log' ? { onlyMissing: range } : {}),
      beforeSend,
      signal: this.context.signal,
    });
    if (attempt === this.#intent.attempt) this.#sent.add(name);
  }

  /**
   * Every row is stored, but materialized views may have missed some if the server was killed in between. They process a
   * log table's rows again, read from the table. A replacing table may have replaced them already: its block is inserted
   * again, which does not change the table.
   */
  async #feedViews(): Promise<void> {
    const unfed = this.batch.tables.filter((t) => t.feedsMaterializedViews && !this.#viewsFed.has(t.name));
    for (const table of unfed) {
      if (table.kind === 'log') {
        await this.#store.feedViews(table, this.batch.range, this.context.signal);
      } else {
        const block = (await this.batch.blocks()).find((b) => b.table === table);
        if (block) await this.#send(block, 0, await assertOwned(this.context));
      }
      this.#viewsFed.add(table.name);
    }
  }

  /** The server stored a token but not its rows: the missing rows get another token, which is committed first. */
  async #nextAttempt(): Promise<void> {
    const intent = { ...this.#intent, attempt: this.#intent.attempt + 1 };
    if (intent.attempt > MAX_ATTEMPTS) {
      throw new IntegrityError(
        `rows of ${describeRange(this.batch.range)} are missing in ClickHouse although it confirmed them ${MAX_ATTEMPTS} ` +
          'times; find out what deletes them (a TTL, a mutation), then restart',
      );
    }
    try {
      await commitIntent(this.context, this.batch.range.start, intent);
    } catch (error) {
      throw new NotOwnedError(error);
    }
    this.#intent = intent;
    this.#sent = new Set();
  }

  async #incomplete(): Promise<TableDefinition[]> {
    const complete = await Promise.all(this.batch.tables.map((table) => this.#isComplete(table)));
    return this.batch.tables.filter((_, i) => !complete[i]);
  }

  /**
   * Throws IntegrityError when a log table has a row of the batch twice, or more rows of it than announced: other rows
   * may only be there when they may be stored by batches with other ranges.
   */
  async #isComplete(table: TableDefinition): Promise<boolean> {
    const { range } = this.batch;
    if (table.kind === 'replacing') {
      const block = (await this.batch.blocks()).find((b) => b.table === table);
      return block === undefined || (await this.#store.countOutdated(block, this.context.signal)) === 0;
    }
    const expected = this.#intent.n[table.name] ?? 0;
    const { rows, positions } = await this.#store.countPositions(table, range, this.context.signal);
    const elsewhere = mayBeStored(this.context, range);
    if (positions < rows || (rows > expected && !elsewhere)) {
      throw new IntegrityError(
        `table ${table.name} has ${rows} rows at ${positions} positions for ${describeRange(range)} (log ${range.log}), where ` +
          `${expected} were announced; nothing was changed. Delete the rows of this range and restart`,
      );
    }
    if (rows === 0) this.#empty.add(table.name);
    if (!elsewhere || rows === 0) return rows === expected;
    // All rows are of this batch if there were none before it, on the only shard of the table.
    const own = this.#empty.has(table.name) && table.onEveryShardFor === undefined;
    if (own && rows === expected) return true;
    const block = (await this.batch.blocks()).find((b) => b.table === table);
    return block === undefined || (await this.#store.countMissing(block, range, this.context.signal)) === 0;
  }
}

/** Waits for all requests, so that none is in flight afterwards; then throws a failure, preferably a permanent one. */
async function waitForAll(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).filter((result) => result.status === 'rejected');
  const worst = failed.find((result) => isPermanent(result.reason)) ?? failed[0];
  if (worst) throw worst.reason;
}

function refusedError(batch: PendingBatch, cause: unknown): IntegrityError {
  return new IntegrityError(
    `ClickHouse refuses the rows of ${describeRange(batch.range)} (tried ${MAX_REFUSALS} times): ${describeError(cause)}; ` +
      'nothing is skipped: fix the cause and restart',
    { cause },
  );
}
