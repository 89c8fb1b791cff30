import { Backoff, describeError, IntegrityError, isRetryable } from '../../core/index.js';
import type { TableBlock, TableDefinition } from '../table.js';
import type { BlockStore } from './block-store.js';
import { commitIntent } from './commits.js';
import type { Intent } from './intent.js';
import { assertOwned, NotOwnedError } from './ownership.js';
import { describePlace, type PendingBatch, queryIdOf, report, storeOf, tokenOf } from './pending-batch.js';
import type { WriterContext } from './writer-context.js';

/** Answers that would be the same again are tried this often before the writer stops. */
const MOST_REFUSALS = 3;
/** Tokens that may be swallowed before the writer stops: each needs the server to be killed at one exact moment. */
const MOST_ATTEMPTS = 8;
const POLL_MS = 50;

/** Sends every block once, under the batch's token. Resolves only when each got a clear success. */
export async function sendAll(context: WriterContext, batch: PendingBatch): Promise<void> {
  const store = storeOf(context, batch.intent);
  const blocks = await batch.blocks();
  const beforeSend = await assertOwned(context);
  await allSettled(
    blocks.map((block) =>
      store.insert(block, {
        token: tokenOf(batch.place),
        queryId: queryIdOf(batch.place, 0, block.table.name),
        beforeSend,
        signal: context.signal,
      }),
    ),
  );
}

/**
 * Makes sure that every row of the batch is in ClickHouse once, whatever happened to it before: after an answer that
 * was not a clear success, and on taking over a partition with an intent. Tries until it succeeds.
 * @param failure what went wrong when the batch was sent, if it was
 * @throws IntegrityError when rows are doubled, refused or cannot be made again; what the partition throws when lost
 */
export async function settle(context: WriterContext, batch: PendingBatch, failure?: unknown): Promise<void> {
  const { signal, clock, timing } = context;
  const settlement = new Settlement(context, batch);
  const backoff = new Backoff({ baseMs: timing.retryBaseMs, capMs: timing.retryCapMs }, context.random);
  let refusals = failure === undefined || isRetryable(failure) ? 0 : 1;
  let cause = failure;
  for (;;) {
    signal.throwIfAborted();
    if (cause !== undefined) {
      if (refusals >= MOST_REFUSALS) throw refusedError(batch, cause);
      const delayMs = backoff.nextDelayMs();
      report(context, batch, { type: 'waiting', cause: describeError(cause), delayMs });
      await clock.sleep(delayMs, signal);
      await assertOwned(context);
    }
    try {
      while (!(await settlement.step())) signal.throwIfAborted();
      return;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof IntegrityError || error instanceof NotOwnedError) throw error;
      cause = error;
      refusals = isRetryable(error) ? 0 : refusals + 1;
    }
  }
}

/** How far the settling of one batch has come; a step may fail anywhere and be repeated. */
class Settlement {
  #intent: Intent;
  /** Tables whose rows got a clear success under the current attempt. */
  #sent = new Set<string>();
  /** Tables whose materialized views have seen the whole batch. */
  readonly #viewsFed = new Set<string>();
  readonly #store: BlockStore;

  constructor(
    private readonly context: WriterContext,
    private readonly batch: PendingBatch,
  ) {
    this.#intent = batch.intent;
    this.#store = storeOf(context, batch.intent);
  }

  /** Waits until nothing of the batch runs, looks what is there, sends what is not. True when all is there. */
  async step(): Promise<boolean> {
    await this.#quiesce();
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
    await allSettled(blocks.map((block) => this.#send(block, this.#intent.attempt, beforeSend)));
    return false;
  }

  /**
   * Of a log table only the rows go in that are not there: whether the server still remembers a token, which it does
   * for a number of parts only, decides nothing about those that are.
   */
  async #send(block: TableBlock, attempt: number, beforeSend: () => void): Promise<void> {
    const { place } = this.batch;
    const { name, kind } = block.table;
    await this.#store.insert(block, {
      token: tokenOf(place, attempt),
      queryId: queryIdOf(place, attempt, name),
      ...(kind === 'log' ? { onlyMissing: place } : {}),
      beforeSend,
      signal: this.context.signal,
    });
    if (attempt === this.#intent.attempt) this.#sent.add(name);
  }

  /**
   * Every row is there, but materialized views may have missed some: the server was killed between the two. They read
   * a log table's rows again from the table. A replacing table may have replaced them already; it gets its block once
   * more, which changes nothing of it.
   */
  async #feedViews(): Promise<void> {
    const unfed = this.batch.tables.filter((t) => t.feedsMaterializedViews && !this.#viewsFed.has(t.name));
    for (const table of unfed) {
      if (table.kind === 'log') {
        await this.#store.feedViews(table, this.batch.place, this.context.signal);
      } else {
        const block = (await this.batch.blocks()).find((b) => b.table === table);
        if (block) await this.#send(block, 0, await assertOwned(this.context));
      }
      this.#viewsFed.add(table.name);
    }
  }

  /** The server took a token but not its rows: the rows that are missing get another token, which is committed first. */
  async #nextAttempt(): Promise<void> {
    const intent = { ...this.#intent, attempt: this.#intent.attempt + 1 };
    if (intent.attempt > MOST_ATTEMPTS) {
      throw new IntegrityError(
        `rows of ${describePlace(this.batch.place)} are missing in ClickHouse although it took them ${MOST_ATTEMPTS} ` +
          'times; look for what deletes them (a TTL, a mutation), then start again',
      );
    }
    try {
      await commitIntent(this.context, this.batch.place.start, intent);
    } catch (error) {
      throw new NotOwnedError(error);
    }
    this.#intent = intent;
    this.#sent = new Set();
  }

  /** Waits until the server runs no insert of this batch; one that takes too long is killed. */
  async #quiesce(): Promise<void> {
    const { clock, signal, timing } = this.context;
    const ids: string[] = [];
    for (let attempt = 0; attempt <= this.#intent.attempt; attempt++) {
      for (const table of this.batch.tables) ids.push(queryIdOf(this.batch.place, attempt, table.name));
    }
    const since = clock.nowMs();
    while (ids.length > 0 && (await this.#store.countRunning(ids, signal)) > 0) {
      if (clock.nowMs() - since > timing.killAfterMs) await this.#store.kill(ids, signal);
      await clock.sleep(POLL_MS, signal);
    }
  }

  async #incomplete(): Promise<TableDefinition[]> {
    const complete = await Promise.all(this.batch.tables.map((table) => this.#isComplete(table)));
    return this.batch.tables.filter((_, i) => !complete[i]);
  }

  /** Throws IntegrityError when a log table has more rows of the batch than announced, or one twice. */
  async #isComplete(table: TableDefinition): Promise<boolean> {
    const { place } = this.batch;
    if (table.kind === 'replacing') {
      const block = (await this.batch.blocks()).find((b) => b.table === table);
      return block === undefined || (await this.#store.countOutdated(block, this.context.signal)) === 0;
    }
    const expected = this.#intent.n[table.name] ?? 0;
    const { rows, places } = await this.#store.countPlaces(table, place, this.context.signal);
    if (rows > expected || places < rows) {
      throw new IntegrityError(
        `table ${table.name} has ${rows} rows in ${places} places for ${describePlace(place)} (log ${place.log}), where ` +
          `${expected} were announced; nothing was changed. Delete the rows of this range and start again`,
      );
    }
    return rows === expected;
  }
}

/** Waits for all, so that nothing goes on behind the back of what follows; then throws the worst failure. */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).filter((result) => result.status === 'rejected');
  const worst = failed.find((result) => !isRetryable(result.reason)) ?? failed[0];
  if (worst) throw worst.reason;
}

function refusedError(batch: PendingBatch, cause: unknown): IntegrityError {
  return new IntegrityError(
    `ClickHouse refuses the rows of ${describePlace(batch.place)} (tried ${MOST_REFUSALS} times): ${describeError(cause)}; ` +
      'nothing is skipped: mend the cause and start again',
    { cause },
  );
}
