import { join } from 'node:path';
import { compareAll } from '../../certify/certify.js';
import type { Kill } from '../../certify/compare/coverage.js';
import { type Query, readStreams } from '../../certify/recorded.js';
import { ControlInterface } from '../../certify/truth.js';
import { OwnerQuery } from '../../cli/certify/owner-query.js';
import { openBusReadOnly } from '../../cli/service/instance.js';
import { resolveConfig } from '../../core/index.js';
import { findEmbedded } from '../../warehouse/index.js';
import { atEnd } from '../support/at-end.js';
import { startTestExchange } from '../support/exchange.js';
import { runAs } from '../support/run-as.js';
import { ServiceProcess } from '../support/service-process.js';
import { unnoticedDamages } from './damaged-figures.js';

/** Statements about the ClickHouse that runs on a data folder. */
export async function statementsOf(folder: string): Promise<(sql: string) => Promise<string>> {
  const endpoint = await findEmbedded(folder);
  if (!endpoint) throw new Error(`no ClickHouse runs on ${folder}`);
  const owner = { ...endpoint.owner, url: `${endpoint.url}/?database=chancery&mutations_sync=1` };
  return (sql) => runAs(owner, sql);
}

interface KeptOptions {
  readonly folder: string;
  readonly events: string;
  /** Unix microseconds. */
  readonly recordedFrom: number;
  readonly closedAt: number;
  readonly kills: readonly Kill[];
}

/** What a run with `--keep` left: its exchange, idle, and its ClickHouse, started again, to be compared again. */
export class KeptRun {
  /** What was answered since the last statement, by query: nothing else changes it. */
  readonly #answers = new Map<string, Promise<unknown[]>>();

  private constructor(
    private readonly parts: {
      readonly control: ControlInterface;
      readonly query: Query;
      readonly options: KeptOptions;
    },
    private readonly run: (sql: string) => Promise<string>,
  ) {}

  static async start(options: KeptOptions): Promise<KeptRun> {
    const { folder } = options;
    const [exchange, clickhouse] = await Promise.all([
      startTestExchange({ ownProcess: true, data: folder, events: Number(options.events) }),
      ServiceProcess.start('warehouse', ['--data', folder]),
    ]);
    const owner = new OwnerQuery(folder, 'chancery');
    atEnd(async () => {
      await owner.close();
      await clickhouse.stop();
    });
    const control = new ControlInterface(exchange.url, exchange.ready.control.token);
    const { query } = owner;
    return new KeptRun({ control, query, options }, await statementsOf(folder));
  }

  /** @returns what ClickHouse answers to a statement, which may change what is recorded */
  async statement(sql: string): Promise<string> {
    this.#answers.clear();
    return await this.run(sql);
  }

  #query: Query = <Row>(sql: string) => {
    const answer = this.#answers.get(sql) ?? this.parts.query(sql);
    this.#answers.set(sql, answer);
    return answer as Promise<Row[]>;
  };

  /** The comparisons that have something unexplained, by name, with their number of it. */
  async unexplained(): Promise<ReadonlyMap<string, number>> {
    const { control, options } = this.parts;
    const query = this.#query;
    const { settings } = resolveConfig({ data: options.folder }, {}, options.folder);
    const bus = openBusReadOnly(settings);
    if (!bus) throw new Error(`${join(options.folder, 'bus')} is missing`);
    try {
      const committed = new Map(
        (await bus.committed(settings.group)).map(({ topic, partition, offset }) => [`${topic}/${partition}`, offset]),
      );
      const comparisons = await compareAll({
        ledger: await control.ledger(),
        faults: [],
        query,
        released: await readStreams(query),
        bus,
        partitions: (await bus.partitions()).map((one) => ({
          ...one,
          end: committed.get(`${one.topic}/${one.partition}`) ?? one.begin,
        })),
        isLast: false,
        ...options,
      });
      const failed = comparisons.filter(({ unexplained }) => unexplained > 0);
      return new Map(failed.map(({ name, unexplained }) => [name, unexplained]));
    } finally {
      await bus.close();
    }
  }

  /** The columns of views of figures in which a wrong value of one row is not noticed. */
  async unnoticed(): Promise<string[]> {
    const { control, options } = this.parts;
    return await unnoticedDamages({ query: this.#query, ledger: await control.ledger(), ...options });
  }

  /** Repeats a row of a table. */
  async duplicate(table: string, where: string): Promise<void> {
    await this.statement(`INSERT INTO ${table} SELECT * FROM ${table} WHERE ${where} LIMIT 1`);
  }

  /** Replaces a view by one with only some of its rows. */
  async restrict(view: string, where: string): Promise<void> {
    await this.statement(`RENAME TABLE ${view} TO whole_${view}`);
    await this.statement(`CREATE VIEW ${view} AS SELECT * FROM whole_${view} WHERE ${where}`);
  }
}
