import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Bus, openEmbeddedBus } from '../../bus/index.js';
import { claimLayout } from '../../cli/service/instance.js';
import { EXCHANGE_OPTIONS, type ReadyLine } from '../../exchange/index.js';
import { type EmbeddedEndpoint, findEmbedded } from '../../warehouse/index.js';
import { startTestExchange, type TestExchangeProcess, type TestExchangeProcessOptions } from '../support/exchange.js';
import { runAs } from '../support/run-as.js';
import { ServiceProcess } from '../support/service-process.js';
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
  /** An empty folder. Default: a temporary one. */
  readonly folder?: string;
  /** The bus, if it is not the embedded log of the folder, and its settings for collectors and workers. */
  readonly kafka?: { readonly bus: Bus; readonly args: readonly string[] };
}

/** One instance of everything, each service a process of its own on one data folder. */
export class Rig {
  readonly folder: string;
  readonly #services = new Map<string, ServiceProcess>();
  #bus: Bus;
  #exchange: TestExchangeProcess | undefined;

  constructor(private readonly options: RigOptions = {}) {
    this.folder = options.folder ?? temporaryFolder();
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

  /** An exchange, by default with bots and accounts. */
  async startExchange(options: TestExchangeProcessOptions): Promise<void> {
    const { bots, pace, accounts } = EXCHANGE_OPTIONS;
    const alive = { bots: bots.default, pace: pace.default, accounts: accounts.default };
    const own = { data: join(this.folder, 'exchange'), stopWithParent: true, endedBy: 'caller' } as const;
    this.#exchange = await startTestExchange({ ownProcess: true, ...alive, ...options, ...own });
    this.#services.set('exchange', this.#exchange.service);
  }

  /** @param name distinguishes several of one command */
  async start(command: RigCommand, args: readonly string[] = [], name: string = command): Promise<ServiceProcess> {
    const service = await ServiceProcess.start(command, this.argsOf(command, args));
    this.#services.set(name, service);
    return service;
  }

  /** The options with which a command gets the bus, if it is not the embedded log. */
  get busArgs(): readonly string[] {
    return this.options.kafka?.args ?? [];
  }

  /** What a command is started with on this rig. */
  argsOf(command: RigCommand, args: readonly string[] = []): string[] {
    const bus = command === 'warehouse' ? [] : this.busArgs;
    const more = command === 'collect' ? ['--exchange-url', this.exchange.url, ...FAST] : [];
    return ['--data', this.folder, '--log-level', 'warn', '--stop-with-parent', ...bus, ...more, ...args];
  }

  service(command: string): ServiceProcess {
    const service = this.#services.get(command);
    if (!service) throw new Error(`chancery ${command} does not run`);
    return service;
  }

  get exchange(): ReadyLine {
    return this.#running.ready;
  }

  /** Text of a control call's answer. */
  control(path: string): Promise<string> {
    return this.#control('GET', path);
  }

  /** Arms a fault of the exchange. */
  async arm(fault: { kind: string; stream?: string; count?: number }): Promise<void> {
    await this.order('/faults', fault);
  }

  /** A control call that changes something. */
  order(path: string, body: unknown): Promise<string> {
    return this.#control('POST', path, body);
  }

  /** A control call that takes something back. */
  undo(path: string): Promise<string> {
    return this.#control('DELETE', path);
  }

  /** The running ClickHouse. Waits for it: on a busy machine it may respond late and count as one that does not run. */
  async clickhouse(): Promise<EmbeddedEndpoint> {
    let endpoint: EmbeddedEndpoint | undefined;
    await until(async () => {
      endpoint = await findEmbedded(this.folder);
      return endpoint !== undefined || 'no ClickHouse runs';
    });
    return endpoint as EmbeddedEndpoint;
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
  async drained(withinMs?: number): Promise<void> {
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
    for (const service of [...this.#services.values()].reverse()) await service.kill9();
    await this.bus.close();
    // The ClickHouse of a killed warehouse ends a little later, by itself.
    removeFolder(this.folder);
  }

  get #running(): TestExchangeProcess {
    if (!this.#exchange) throw new Error('the exchange does not run');
    return this.#exchange;
  }

  async #control(method: string, path: string, body?: unknown): Promise<string> {
    const { status, text } = await this.#running.control(method, path, body);
    if (status < 200 || status > 299) throw new Error(`${path} answered ${status}: ${text}`);
    return text;
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
