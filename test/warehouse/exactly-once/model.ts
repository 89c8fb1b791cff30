import { PartitionLostError } from '../../../bus/index.js';
import type { BatchRange, BlockStore, InsertRequest } from '../../../warehouse/exactly-once/block-store.js';
import {
  ConnectionError,
  logTable,
  type PartitionStore,
  replacingTable,
  type TableBlock,
} from '../../../warehouse/index.js';

/** Tables of the model, one of each kind; `ticks` feeds a materialized view of row counts. */
const ticks = logTable({ name: 'ticks', columns: [['value', 'UInt64']], feedsMaterializedViews: true });
const raw = logTable({ name: 'raw', columns: [['value', 'UInt64']] });
const states = replacingTable({
  name: 'states',
  columns: [
    ['id', 'UInt64'],
    ['seen', 'UInt64'],
  ],
  id: ['id'],
  version: 'seen',
});
export const TABLES = [ticks, raw, states];

/** A row of the model: its position, its table partition, and for `states` its ID. */
export interface ModelRow {
  readonly offset: number;
  readonly index: number;
  readonly part: number;
}

/** What the records of a range become: the same for the same range, several table partitions, some tables without rows. */
export function rowsOf(start: number, end: number): Map<string, ModelRow[]> {
  const rows = new Map<string, ModelRow[]>();
  const add = (table: string, row: ModelRow) => rows.set(table, [...(rows.get(table) ?? []), row]);
  for (let offset = start; offset <= end; offset++) {
    add('raw', { offset, index: 0, part: Math.floor(offset / 7) });
    for (let index = 0; index < offset % 3; index++) add('ticks', { offset, index, part: Math.floor(offset / 5) });
    if (offset % 4 === 0) add('states', { offset, index: 0, part: 0 });
  }
  return rows;
}

export function blocksOf(start: number, end: number): TableBlock[] {
  const rows = rowsOf(start, end);
  return TABLES.flatMap((table) => {
    const own = rows.get(table.name);
    return own ? [{ table, rows: own.length, body: Buffer.from(JSON.stringify(own)) }] : [];
  });
}

export const idOf = (row: ModelRow): number => row.offset % 12;

/** The worker is dead: its further actions must have no effect. */
export class Crashed extends Error {}

/** Decides what happens at each step, from a list of numbers; 0, and every step after the list, succeeds. */
export class Decisions {
  #at = 0;

  constructor(private readonly choices: readonly number[]) {}

  pick(options: number): number {
    const choice = this.choices[this.#at] ?? 0;
    this.#at += 1;
    return choice % options;
  }
}

interface Query {
  readonly id: string;
  /** Remaining steps, each an effect on the tables. */
  readonly steps: (() => void)[];
}

interface ModelTable {
  /** Stored rows; a position may occur twice. */
  readonly rows: ModelRow[];
  /** `token|partition` of the deduplication window, oldest first. */
  tokens: string[];
}

/**
 * ClickHouse as far as the protocol depends on it, with what was observed of the real one: a table partition gets its
 * rows at once or not at all; the token is remembered before the rows are there; a query whose client is gone continues;
 * a request may arrive long after its sender gave up; a materialized view runs on every insert, deduplicated or not.
 */
export class ModelServer {
  readonly tables = new Map(TABLES.map((table) => [table.name, { rows: [], tokens: [] } as ModelTable]));
  /** The materialized view's target: rows counted by table partition and first offset of the insert, replaced by key. */
  readonly viewCounts = new Map<string, number>();
  #running: Query[] = [];
  #late: { readonly at: number; deliver(): void }[] = [];
  #now = 0;

  constructor(
    private readonly decisions: Decisions,
    readonly window = 100,
  ) {}

  /** Time passes: queries continue, late requests arrive. */
  tick(): void {
    this.#now += 1;
    for (const query of this.#running) query.steps.shift()?.();
    this.#running = this.#running.filter((query) => query.steps.length > 0);
    const due = this.#late.filter((late) => late.at <= this.#now);
    this.#late = this.#late.filter((late) => late.at > this.#now);
    for (const late of due) late.deliver();
  }

  /** Completes all queries and requests. */
  drain(): void {
    for (let i = 0; i < 1000; i++) this.tick();
  }

  /** A long time passes: all queries and requests complete, and other tokens displace the remembered ones. */
  forget(): void {
    this.drain();
    for (const table of this.tables.values()) table.tokens = [];
  }

  kill(): void {
    this.#running = [];
  }

  insert(block: TableBlock, request: Omit<InsertRequest, 'beforeSend' | 'signal'>): void {
    this.tick();
    const query = this.#queryOf(block, request);
    const deliver = () => {
      if (this.#running.some((other) => other.id === query.id)) return;
      this.#running.push({
        id: query.id,
        steps: query.steps.flatMap((step) => [...idle(this.decisions.pick(20)), step]),
      });
    };
    switch (this.decisions.pick(9)) {
      case 0:
      case 1:
        if (this.#running.some((other) => other.id === query.id)) throw new ConnectionError('same query is running');
        for (const step of query.steps.splice(0)) step();
        return;
      case 2:
        throw new ConnectionError('lost on the way');
      case 3:
        for (const step of query.steps.splice(0)) step();
        throw new ConnectionError('answer lost');
      case 4:
        deliver();
        throw new ConnectionError('client gave up, query continues');
      case 5:
        this.#late.push({ at: this.#now + 1 + this.decisions.pick(60), deliver });
        throw new ConnectionError('request is late');
      case 6:
        for (const step of query.steps.splice(0)) step();
        this.#late.push({ at: this.#now + 1 + this.decisions.pick(60), deliver: () => this.#again(block, request) });
        return;
      default:
        for (const step of query.steps.splice(0, this.decisions.pick(query.steps.length + 1))) step();
        this.kill();
        throw new ConnectionError('server was killed');
    }
  }

  countPositions(table: string, range: BatchRange): { rows: number; positions: number } {
    this.tick();
    this.#fail();
    const rows = this.#table(table).rows.filter((row) => row.offset >= range.start && row.offset <= range.end);
    return { rows: rows.length, positions: new Set(rows.map(answerRefOf)).size };
  }

  countMissing(block: TableBlock): number {
    this.tick();
    this.#fail();
    const there = new Set(this.#table(block.table.name).rows.map(answerRefOf));
    return bodyOf(block).filter((row) => !there.has(answerRefOf(row))).length;
  }

  countOutdated(block: TableBlock): number {
    this.tick();
    this.#fail();
    const there = this.#table(block.table.name).rows;
    const newest = (id: number) => Math.max(-1, ...there.filter((row) => idOf(row) === id).map((row) => row.offset));
    return new Set(
      bodyOf(block)
        .filter((row) => newest(idOf(row)) < row.offset)
        .map(idOf),
    ).size;
  }

  /** Runs the materialized view over the rows of a range, or a part of them when there is no response. */
  feedViews(table: string, range: BatchRange): void {
    this.tick();
    const rows = this.#table(table).rows.filter((row) => row.offset >= range.start && row.offset <= range.end);
    const parts = [...new Set(rows.map((row) => row.part))];
    const answers = this.decisions.pick(12) !== 11;
    for (const part of answers ? parts : parts.slice(1)) {
      const own = rows.filter((row) => row.part === part);
      this.viewCounts.set(`${part}|${Math.min(...own.map((row) => row.offset))}`, own.length);
    }
    if (!answers) throw new ConnectionError('no answer');
  }

  countRunning(ids: readonly string[]): number {
    this.tick();
    this.#fail();
    return this.#running.filter((query) => ids.includes(query.id)).length;
  }

  killQueries(ids: readonly string[]): void {
    this.tick();
    this.#running = this.#running.filter((query) => !ids.includes(query.id));
  }

  #again(block: TableBlock, request: Omit<InsertRequest, 'beforeSend' | 'signal'>): void {
    for (const step of this.#queryOf(block, request).steps) step();
  }

  #fail(): void {
    if (this.decisions.pick(12) === 11) throw new ConnectionError('no answer');
  }

  /** The steps of an insert: per table partition, first the token, then the rows; the view at the end. */
  #queryOf(block: TableBlock, { token, queryId, onlyMissing }: Omit<InsertRequest, 'beforeSend' | 'signal'>): Query {
    const table = this.#table(block.table.name);
    const steps: (() => void)[] = [];
    let rows = bodyOf(block);
    if (onlyMissing) {
      steps.push(() => {
        const there = new Set(table.rows.map(answerRefOf));
        rows = rows.filter((row) => !there.has(answerRefOf(row)));
      });
    }
    for (const part of new Set(rows.map((row) => row.part))) {
      let known = false;
      const own = () => rows.filter((row) => row.part === part);
      steps.push(() => {
        known = table.tokens.includes(`${token}|${part}`);
        if (!known && own().length > 0) table.tokens = [...table.tokens, `${token}|${part}`].slice(-this.window);
      });
      steps.push(() => {
        if (!known) table.rows.push(...own());
      });
      if (block.table.feedsMaterializedViews) {
        steps.push(() => {
          const [first] = own();
          if (first) this.viewCounts.set(`${part}|${first.offset}`, own().length);
        });
      }
    }
    return { id: queryId, steps };
  }

  #table(name: string): ModelTable {
    const table = this.tables.get(name);
    if (!table) throw new Error(`no table ${name}`);
    return table;
  }
}

/** Time in which a slow query does nothing. */
const idle = (ticks: number): (() => void)[] => Array.from({ length: ticks }, () => () => undefined);

const answerRefOf = (row: ModelRow): string => `${row.offset}/${row.index}`;
const bodyOf = (block: TableBlock): ModelRow[] => JSON.parse(block.body.toString()) as ModelRow[];

/** The state that outlives every worker: the committed offset of the partition, and its owner. */
export class ModelBus {
  offset = 0;
  intent: string | undefined;
  owner = 0;
  /** Rows before this offset may be stored already. */
  storedBefore = 0;
}

/** Which protections are disabled, to show that each is needed. */
export interface Without {
  readonly token?: boolean;
  readonly readBack?: boolean;
  readonly intent?: boolean;
  readonly quiesce?: boolean;
  readonly ownership?: boolean;
  readonly newToken?: boolean;
  readonly commitReadBack?: boolean;
  readonly feedViews?: boolean;
}

/** One life of a worker's connections: counts its steps, and is dead from one of them on. */
export class Life {
  #steps = 0;
  dead = false;

  constructor(
    private readonly diesAt: number,
    /** Called at that step instead of dying: the worker was paused and others continued. */
    private readonly onPause?: () => Promise<void>,
  ) {}

  get steps(): number {
    return this.#steps;
  }

  /** Runs an effect; the worker may die before or after it, and then does not receive the outcome. */
  async step<T>(effect: () => T): Promise<T> {
    await this.#moment();
    const result = attempt(effect);
    await this.#moment();
    if ('error' in result) throw result.error;
    return result.value;
  }

  async #moment(): Promise<void> {
    await Promise.resolve();
    if (this.dead) throw new Crashed();
    if (this.#steps++ !== this.diesAt) return;
    if (this.onPause) return this.onPause();
    this.dead = true;
    throw new Crashed();
  }
}

function attempt<T>(effect: () => T): { value: T } | { error: unknown } {
  try {
    return { value: effect() };
  } catch (error) {
    return { error };
  }
}

export function storeFor(server: ModelServer, life: Life, without: Without, random: () => number): BlockStore {
  return {
    insert: (block, request) =>
      life.step(() => {
        request.beforeSend();
        const swallowed = without.newToken ? request.token.replace(/\/r\d+$/, '') : request.token;
        server.insert(block, { ...request, token: without.token ? `${swallowed}-${random()}` : swallowed });
      }),
    countPositions: (table, range) =>
      life.step(() => {
        const rows = rowsOf(range.start, range.end).get(table.name)?.length ?? 0;
        return without.readBack ? { rows, positions: rows } : server.countPositions(table.name, range);
      }),
    countMissing: (block) => life.step(() => (without.readBack ? 0 : server.countMissing(block))),
    countOutdated: (block) => life.step(() => (without.readBack ? 0 : server.countOutdated(block))),
    feedViews: (table, range) => life.step(() => (without.feedViews ? undefined : server.feedViews(table.name, range))),
    countRunning: (ids) => life.step(() => (without.quiesce ? 0 : server.countRunning(ids))),
    kill: (ids) => life.step(() => server.killQueries(ids)),
  };
}

/** A worker without a heartbeat for longer than this may lose its partition. */
export const HELD_FOR_MS = 2000;

export function partitionFor(bus: ModelBus, life: Life, without: Without, decisions: Decisions): PartitionStore {
  bus.owner += 1;
  const epoch = bus.owner;
  const assertOwned = () => {
    if (bus.owner !== epoch) throw new PartitionLostError('t', 0, 'g');
  };
  let remembered: { offset: number; intent?: string } | undefined;
  return {
    topic: 't',
    partition: 0,
    log: 'L',
    committed: () =>
      life.step(() => {
        if ((without.commitReadBack || without.intent) && remembered) return remembered;
        return { offset: bus.offset, ...(bus.intent === undefined ? {} : { intent: bus.intent }) };
      }),
    commit: (offset, intent) =>
      life.step(() => {
        assertOwned();
        remembered = { offset, ...(intent === undefined ? {} : { intent }) };
        // A stopped consumer returns silently and stores nothing.
        if (decisions.pick(15) === 14) return;
        bus.offset = offset;
        bus.intent = without.intent ? undefined : intent;
        if (decisions.pick(15) === 14) throw new PartitionLostError('t', 0, 'g');
      }),
    assertOwned: () =>
      life.step(() => {
        if (!without.ownership) assertOwned();
      }),
    heldForMs: HELD_FOR_MS,
    storedBefore: bus.storedBefore,
  };
}
