import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { type KafkaBusOptions, openKafkaBus, type TopicOptions } from '../../bus/index.js';
import { TOPICS } from '../../core/index.js';
import type { EmbeddedEndpoint } from '../../warehouse/index.js';
import { Broker } from '../kafka/broker.js';
import { Rig } from '../pipeline/rig.js';
import { type DirectedFault, type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import { Journal } from './journal.js';
import { Keeper } from './keeper.js';
import type { Protection } from './weakened.js';
import type { WeakenedOptions } from './weakened-worker.js';

export type BusKind = 'kafka' | 'embedded';

export interface StageOptions {
  readonly bus: BusKind;
  /** The caller's broker; absent: the stage starts one. */
  readonly broker?: Broker;
  readonly seed: number;
  readonly workers: number;
  readonly appenders: number;
  readonly recordsPerSecond: number;
  /** Frames per second of the simulated exchange; 0: neither exchange nor collector. */
  readonly load: number;
  /** Fault of a request to ClickHouse, by its path and query. */
  readonly fault?: (path: string) => Fault | DirectedFault | undefined;
  readonly faultDelayMs?: () => number;
  /** Delay before a killed process is restarted. */
  readonly downMs?: () => number;
  /** Whether the workers have the default of `--kafka-session-ms`, not `SESSION_MS`, which expires on a busy machine. */
  readonly usesDefaultSession?: boolean;
  /** Of each topic. Default 4. */
  readonly partitions?: number;
  /** Whether appenders append frames that make a batch large enough for a summary. */
  readonly hugeFrames?: boolean;
  /** Protection that is disabled in the workers. */
  readonly without?: Protection;
}

export interface AppenderOptions {
  readonly kafka?: KafkaBusOptions;
  /** Folder of the embedded log. */
  readonly dir: string;
  readonly topic: TopicOptions;
  readonly seed: number;
  readonly recordsPerSecond: number;
  readonly hugeFrames: boolean;
  readonly acknowledgedFile: string;
}

const PREFIX = 'chaos.';
const PARTITIONS = 4;
/** Kafka session timeout of the workers: short, so that one that is paused for seconds loses its partitions. */
export const SESSION_MS = 2000;
const STOP_WITHIN_MS = 120_000;

/** Everything that a chaos run needs, each service a process that is restarted when it was killed. */
export class Stage {
  readonly workers: Keeper[] = [];
  /** Appenders, and the exchange's collector. */
  readonly collectors: Keeper[] = [];
  readonly clickHouse: Keeper;
  /** Requests that reached ClickHouse, and injected faults. */
  readonly journal = new Journal();
  #proxy: FaultProxy | undefined;
  #endpoint: EmbeddedEndpoint | undefined;
  #sessions = 0;

  private constructor(
    readonly options: StageOptions,
    readonly broker: Broker | undefined,
    readonly rig: Rig,
  ) {
    this.clickHouse = this.#keeper('warehouse', () => ServiceProcess.start('warehouse', rig.argsOf('warehouse')));
  }

  static async start(options: StageOptions): Promise<Stage> {
    const broker = options.bus === 'kafka' ? (options.broker ?? (await Broker.start())) : undefined;
    const kafka = broker && {
      bus: openKafkaBus({ brokers: [broker.address], prefix: PREFIX, apiTimeoutMs: STOP_WITHIN_MS }),
      args: ['--kafka-brokers', broker.address, '--kafka-prefix', PREFIX],
    };
    const stage = new Stage(options, broker, new Rig(kafka ? { kafka } : {}));
    try {
      await stage.#start();
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  get proxy(): FaultProxy {
    if (!this.#proxy) throw new Error('the stage has no proxy yet');
    return this.#proxy;
  }

  /** The owner's login to ClickHouse, through the proxy. */
  get clickHouseArgs(): string[] {
    const { user, password } = this.endpoint.owner;
    const url = ['--clickhouse-url', this.proxy.url];
    return [...url, '--clickhouse-user', user, '--clickhouse-password', password.reveal()];
  }

  get endpoint(): EmbeddedEndpoint {
    if (!this.#endpoint) throw new Error('ClickHouse was never ready');
    return this.#endpoint;
  }

  /** Folder in which appenders record the acknowledged records. */
  get acknowledgedFolder(): string {
    return join(this.rig.folder, 'acknowledged');
  }

  /** Another worker; started by the caller. */
  addWorker(more: readonly string[] = []): Keeper {
    const args = [...this.clickHouseArgs, '--batch-delay-ms', '25', ...more];
    if (this.broker && !this.options.usesDefaultSession) args.push('--kafka-session-ms', String(SESSION_MS));
    const name = `worker ${this.workers.length + 1}`;
    const { without } = this.options;
    const launch = () =>
      without ? this.#startWeakened(without) : ServiceProcess.start('transform', this.rig.argsOf('transform', args));
    const worker = this.#keeper(name, launch);
    this.workers.push(worker);
    return worker;
  }

  #startWeakened(without: Protection): Promise<ServiceProcess> {
    const { user, password } = this.endpoint.owner;
    const login = { clickhouseUser: user, clickhousePassword: password.reveal() };
    const settings = { data: this.rig.folder, clickhouseUrl: this.proxy.url, ...login, batchDelayMs: 25 };
    const options: WeakenedOptions = { settings, without };
    return ServiceProcess.startScript('test/chaos/weakened-worker.js', [JSON.stringify(options)]);
  }

  async makeTopics(): Promise<void> {
    for (const topic of Object.values(TOPICS)) await this.rig.bus.ensureTopic(topic, this.#topic);
  }

  /** Deletes topics of Kafka and creates them again, empty. */
  async replaceTopics(topics: readonly string[]): Promise<void> {
    if (!this.broker) throw new Error('only Kafka can delete a topic');
    const admin = new kafkajs.Kafka({ brokers: [this.broker.address], logLevel: 0 }).admin();
    await admin.connect();
    try {
      await admin.deleteTopics({ topics: topics.map((topic) => PREFIX + topic) });
      await until(async () => {
        const left = (await admin.listTopics()).filter((name) => topics.includes(name.slice(PREFIX.length)));
        return left.length === 0 || `still there: ${left.join(', ')}`;
      });
    } finally {
      await admin.disconnect();
    }
    await this.makeTopics();
  }

  /** Last output of the processes that exited by themselves. */
  get failures(): string[] {
    return [this.clickHouse, ...this.workers, ...this.collectors].flatMap((keeper) => keeper.failures);
  }

  /** Last output of each process, and whether it runs. */
  get lastLogLines(): string[] {
    return [this.clickHouse, ...this.workers, ...this.collectors].map(({ name, service, failures }) => {
      const said = service?.stderr.trim().split('\n').slice(-3).join(' | ');
      return `${name}: ${service ? 'runs' : 'is away'}: ${said ?? ''} ${failures.slice(-2).join(' | ')}`;
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.workers, ...this.collectors].map((keeper) => keeper.stop()));
    await this.clickHouse.stop();
    await this.#proxy?.close();
    await this.rig.close();
    if (!this.options.broker) await this.broker?.remove();
  }

  async #start(): Promise<void> {
    const { options, rig } = this;
    mkdirSync(this.acknowledgedFolder);
    await this.makeTopics();
    await this.clickHouse.start();
    this.#endpoint = await rig.clickhouse();
    const choose = (path: string) => options.fault?.(path);
    this.#proxy = await startFaultProxy(
      () => this.endpoint.url,
      choose,
      options.faultDelayMs ?? (() => 0),
      (sent) => this.journal.sent(sent),
    );
    const keepers = Array.from({ length: options.workers }, () => this.addWorker());
    if (options.load > 0) {
      await rig.startExchange({ seed: options.seed, events: 6, bots: 3, load: options.load });
      const collect = () => ServiceProcess.start('collect', rig.argsOf('collect'));
      this.collectors.push(this.#keeper('collector', collect));
    }
    for (let i = 0; i < options.appenders; i++) {
      this.collectors.push(this.#keeper(`appender ${i + 1}`, () => this.#startAppender()));
    }
    await Promise.all([...keepers, ...this.collectors].map((keeper) => keeper.start()));
  }

  #startAppender(): Promise<ServiceProcess> {
    const { bus, seed, recordsPerSecond, hugeFrames = false } = this.options;
    const session = this.#sessions++;
    const options: AppenderOptions = {
      ...(this.broker && bus === 'kafka' ? { kafka: { brokers: [this.broker.address], prefix: PREFIX } } : {}),
      dir: join(this.rig.folder, 'bus'),
      topic: this.#topic,
      seed: seed * 1000 + session,
      recordsPerSecond,
      hugeFrames,
      acknowledgedFile: join(this.acknowledgedFolder, String(session)),
    };
    return ServiceProcess.startScript('test/chaos/appender.js', [JSON.stringify(options)]);
  }

  get #topic(): TopicOptions {
    return { partitions: this.options.partitions ?? PARTITIONS, retentionMs: null, retentionBytes: null };
  }

  #keeper(name: string, launch: () => Promise<ServiceProcess>): Keeper {
    return new Keeper(name, launch, this.options.downMs ?? (() => 0));
  }
}
