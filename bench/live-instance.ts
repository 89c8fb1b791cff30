import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { openBusReadOnly } from '../cli/service/instance.js';
import { lagOf } from '../cli/status/lag.js';
import { InstanceRun } from '../cli/up/instance-run.js';
import { loadConfig, type Settings } from '../core/index.js';
import { removeFolder, temporaryFolder } from '../test/support/temporary-folder.js';
import { findEmbedded } from '../warehouse/index.js';

export interface GeneratedFrames {
  /** Since the start of the exchange. */
  readonly sent: number;
  /** Not sent because the exchange was busy. */
  readonly skipped: number;
}

/** An instance as `chancery up` starts it, on a new data folder, with an exchange on which no bots trade. */
export class LiveInstance {
  readonly #run: InstanceRun;

  private constructor(private readonly folder: string) {
    this.#run = new InstanceRun({
      settings: loadConfig({ data: folder, logLevel: 'warn' }, {}, folder),
      given: new Set(['data']),
      exchangePort: undefined,
      exchangeFlags: ['--bots', '0', '--pace', '0'],
      onMessage: (text) => process.stderr.write(`${text}\n`),
    });
  }

  static async start(): Promise<LiveInstance> {
    const instance = new LiveInstance(temporaryFolder());
    try {
      await instance.#run.start(new AbortController().signal);
      return instance;
    } catch (error) {
      await instance.stop();
      throw error;
    }
  }

  get settings(): Settings {
    return this.#run.settings;
  }

  get viewerUrl(): string {
    return String(this.#serviceOf('view').ready['address']);
  }

  get exchange(): Readonly<Record<string, unknown>> {
    return this.#serviceOf('exchange').ready;
  }

  pidOf(service: string): number {
    return this.#serviceOf(service).pid ?? 0;
  }

  /** A connection to ClickHouse as its owner, which may read system tables; the caller closes it. */
  async connect() {
    const endpoint = await findEmbedded(this.settings.data);
    if (!endpoint) throw new Error('ClickHouse is not running');
    const { url, user, password } = endpoint.owner;
    const login = { url, username: user, password: password.reveal(), database: this.settings.database };
    return createClient({ ...login, log: { level: ClickHouseLogLevel.OFF } });
  }

  /** Sends a request to the exchange's control interface. */
  async control(path: string, body: unknown): Promise<unknown> {
    const { url, token } = this.exchange['control'] as { url: string; token: string };
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'X-Control-Token': token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`the exchange rejected ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** Sets the rate of generated order book frames, and answers with their numbers so far. */
  async setLoad(framesPerSecond: number): Promise<GeneratedFrames> {
    return (await this.control('/load', { framesPerSecond })) as GeneratedFrames;
  }

  /** Waits until the collector is subscribed and everything it received at start is in ClickHouse. */
  async drained(): Promise<void> {
    for (let quiet = 0; quiet < 3; await sleep(1000)) quiet = (await this.waiting()) === 0 ? quiet + 1 : 0;
  }

  /** Number of order book records that are not in ClickHouse yet. */
  async waiting(): Promise<number> {
    const bus = openBusReadOnly(this.settings);
    if (!bus) return 0;
    try {
      return (await lagOf(bus, this.settings.group))
        .filter(({ topic }) => topic === 'chancery.order-book')
        .reduce((sum, { lag }) => sum + lag, 0);
    } finally {
      await bus.close();
    }
  }

  async stop(): Promise<void> {
    await this.#run.stop();
    removeFolder(this.folder);
  }

  #serviceOf(name: string) {
    const service = this.#run.services.find((one) => one.name === name);
    if (!service) throw new Error(`${name} is not running`);
    return service;
  }
}
