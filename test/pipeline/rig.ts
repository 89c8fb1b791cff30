import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Bus, openEmbeddedBus } from '../../bus/index.js';
import { claimLayout } from '../../cli/parts/instance.js';
import type { ReadyLine } from '../../exchange/index.js';
import { type EmbeddedEndpoint, findEmbedded } from '../../warehouse/index.js';
import { Part } from '../support/part.js';
import { runAs } from '../support/run-as.js';
import { removeFolder, temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/** The collector's schedules, fast enough for a test that lasts seconds. */
const FAST = ['--events-schedule', '* * * * * *', '--history-schedule', '*/5 * * * * *'];

/** Everything of the accounts every second. */
export const OFTEN_POLLED = ['holdings', 'trades', 'transactions', 'tpsl', 'stats', 'activity'].flatMap((group) => [
  `--${group}-schedule`,
  '* * * * * *',
]);

export interface PriceChange {
  readonly seq: number;
  readonly eventId: string;
  readonly marketId: string;
  readonly c: number;
  readonly b: number;
  readonly a: number;
  /** Unix microseconds. */
  readonly at: number;
}

export type RigCommand = 'warehouse' | 'transform' | 'collect';

export interface RigOptions {
  /** The bus, when it is not the embedded log of the folder, and what collectors and workers are told about it. */
  readonly kafka?: { readonly bus: Bus; readonly args: readonly string[] };
}

/** One instance of everything, each part a process of its own on one data folder. */
export class Rig {
  readonly folder = temporaryFolder();
  readonly #parts = new Map<string, Part>();
  #bus: Bus;
  #exchange: ReadyLine | undefined;

  constructor(private readonly options: RigOptions = {}) {
    claimLayout(this.folder);
    this.#bus = options.kafka?.bus ?? this.#openLog();
  }

  get bus(): Bus {
    return this.#bus;
  }

  /** Throws the embedded log away and begins another; no other process may have it open. */
  async wipeLog(): Promise<void> {
    await this.#bus.close();
    rmSync(join(this.folder, 'bus'), { recursive: true });
    this.#bus = this.#openLog();
  }

  async startExchange(args: readonly string[]): Promise<void> {
    const data = join(this.folder, 'exchange');
    const own = ['--port', '0', '--data', data, '--stop-with-parent'];
    const part = await Part.start<ReadyLine>('exchange', [...own, ...args]);
    this.#parts.set('exchange', part);
    this.#exchange = part.ready;
  }

  /** @param name tells several of one command apart */
  async start(command: RigCommand, args: readonly string[] = [], name: string = command): Promise<Part> {
    const part = await Part.start(command, this.argsOf(command, args));
    this.#parts.set(name, part);
    return part;
  }

  /** How a command is told which bus it is, when it is not the embedded log. */
  get busArgs(): readonly string[] {
    return this.options.kafka?.args ?? [];
  }

  /** What a command is started with on this rig. */
  argsOf(command: RigCommand, args: readonly string[] = []): string[] {
    const bus = command === 'warehouse' ? [] : this.busArgs;
    const more = command === 'collect' ? ['--exchange-url', this.exchange.url, ...FAST] : [];
    return ['--data', this.folder, '--log-level', 'warn', '--stop-with-parent', ...bus, ...more, ...args];
  }

  part(command: string): Part {
    const part = this.#parts.get(command);
    if (!part) throw new Error(`chancery ${command} does not run`);
    return part;
  }

  get exchange(): ReadyLine {
    if (!this.#exchange) throw new Error('the exchange does not run');
    return this.#exchange;
  }

  /** Text of a control call's answer. */
  async control(path: string): Promise<string> {
    const { url, token } = this.exchange.control;
    const answer = await fetch(`${url}${path}`, { headers: { 'x-control-token': token } });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.text();
  }

  /** Arms a fault of the exchange. */
  async arm(fault: { kind: string; stream?: string; count?: number }): Promise<void> {
    await this.order('/faults', fault);
  }

  /** A control call that changes something. */
  async order(path: string, body: unknown): Promise<void> {
    const { url, token } = this.exchange.control;
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'x-control-token': token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  }

  /** The running ClickHouse. */
  async clickhouse(): Promise<EmbeddedEndpoint> {
    const endpoint = await findEmbedded(this.folder);
    if (!endpoint) throw new Error('no ClickHouse runs');
    return endpoint;
  }

  async truthPrices(): Promise<PriceChange[]> {
    return lines<PriceChange>(await this.control('/truth/prices?after=0'));
  }

  /** Rows of a SELECT as the owner; 64-bit integers are numbers. */
  async rows<T>(sql: string): Promise<T[]> {
    const endpoint = await this.clickhouse();
    const settings = `SETTINGS output_format_json_quote_64bit_integers = 0`;
    return lines<T>(
      await runAs(
        { ...endpoint.owner, url: `${endpoint.url}/?database=chancery` },
        `${sql} ${settings} FORMAT JSONEachRow`,
      ),
    );
  }

  async value<T>(sql: string): Promise<T> {
    const [row] = await this.rows<{ value: T }>(`SELECT (${sql}) AS value`);
    if (!row) throw new Error(`no row: ${sql}`);
    return row.value;
  }

  /** Waits until every record that is on the bus now is a row in ClickHouse. */
  async drained(withinMs = 60_000): Promise<void> {
    const ends = await this.bus.partitions();
    const group = 'chancery-transform';
    await until(async () => {
      const committed = await this.bus.committed(group);
      const open = ends.flatMap(({ topic, partition, end }) => {
        const at = committed.find((c) => c.topic === topic && c.partition === partition);
        return end > 0 && (at?.offset ?? 0) < end ? [{ topic, partition, end, ...at }] : [];
      });
      return open.length === 0 || `not processed: ${JSON.stringify(open)}`;
    }, withinMs);
  }

  async close(): Promise<void> {
    for (const part of [...this.#parts.values()].reverse()) await part.kill9();
    await this.bus.close();
    // The ClickHouse of a killed warehouse ends a little later, by itself.
    removeFolder(this.folder);
  }

  #openLog(): Bus {
    return openEmbeddedBus({ dir: join(this.folder, 'bus'), retentionEveryMs: 0 });
  }
}

export function lines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
