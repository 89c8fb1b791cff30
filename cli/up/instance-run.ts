import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Component,
  DEFAULT_PORTS,
  isFreePort,
  type SettingName,
  type Settings,
  STOP_MS,
  systemClock,
  UsageError,
} from '../../core/index.js';
import { clickHousePlace } from '../parts/clickhouse-place.js';
import { instancePaths } from '../parts/instance.js';
import { findReadOnly } from '../parts/read-only.js';
import type { PartLine } from './board.js';
import { collectPart, exchangePart, transformPart, warehousePart } from './child-parts.js';
import { writeExchangeAccounts } from './exchange-accounts.js';
import { LogFile } from './log-file.js';
import { NewsFilter } from './log-line.js';
import { PortClaims } from './port-claims.js';
import type { SupervisedProcess } from './supervised-process.js';

/** How often other ports are chosen when a program that claims none took one between the choice and the start. */
const ATTEMPTS = 3;

export interface InstanceOptions {
  readonly settings: Settings;
  readonly given: ReadonlySet<SettingName>;
  /** Port of the simulated exchange; undefined takes the first free one from the default on. */
  readonly exchangePort: number | undefined;
  /** Further flags of the simulated exchange. */
  readonly exchangeFlags: readonly string[];
  readonly onNews: (text: string) => void;
}

/**
 * All parts of one instance on one machine: started so that each finds what it needs, stopped so that nothing is left
 * under way: who receives first, then who moves records on, then what they are moved to, the exchange with it.
 */
export class InstanceRun implements Component {
  readonly name = 'instance';
  #exchange: SupervisedProcess | undefined;
  #clickhouse: SupervisedProcess | undefined;
  #transform: SupervisedProcess | undefined;
  #collect: SupervisedProcess | undefined;
  /** With the addresses that were chosen at the start. */
  #settings: Settings;
  readonly #claims = new PortClaims();

  constructor(private readonly options: InstanceOptions) {
    this.#settings = options.settings;
  }

  get settings(): Settings {
    return this.#settings;
  }

  get parts(): readonly SupervisedProcess[] {
    return [this.#exchange, this.#clickhouse, this.#transform, this.#collect].filter((part) => part !== undefined);
  }

  /** The parts as the screen shows them, those that run elsewhere too. */
  get lines(): PartLine[] {
    const { exchangeUrl, clickhouseUrl, clickhouseCluster } = this.#settings;
    return [
      ...(this.#exchange
        ? [line(this.#exchange, 'simulated exchange')]
        : [{ name: 'exchange', state: 'external' as const, address: exchangeUrl, about: 'recorded from elsewhere' }]),
      ...(this.#clickhouse
        ? [line(this.#clickhouse, embedded(this.#clickhouse.ready['tcpPort']))]
        : [
            {
              name: 'clickhouse',
              state: 'external' as const,
              address: clickhouseUrl ?? clickhouseCluster ?? '',
              about: clickhouseCluster === undefined ? 'a server of its own' : 'a cluster',
            },
          ]),
      ...(this.#collect ? [line(this.#collect, 'streams and polls → bus')] : []),
      ...(this.#transform ? [line(this.#transform, 'bus → ClickHouse, exactly once')] : []),
    ];
  }

  async start(signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#start(signal);
      } catch (error) {
        const { ports } = this.#claims;
        await this.stop();
        if (signal.aborted || attempt === ATTEMPTS || !(await oneIsTaken(ports))) throw error;
      }
    }
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { settings, given, onNews } = this.options;
    const paths = instancePaths(settings.data);
    mkdirSync(paths.logs, { recursive: true });
    // Better now, in one line, than a worker that waits.
    if (clickHousePlace(settings).kind !== 'embedded') await (await findReadOnly(settings))?.close();
    const failed = new AbortController();
    const both = AbortSignal.any([signal, failed.signal]);
    const simulated = !given.has('exchangeUrl');
    const exchangePort = simulated ? await this.#exchangePort() : undefined;
    this.#settings = {
      ...settings,
      data: paths.folder,
      ...(exchangePort === undefined ? {} : { exchangeUrl: `http://127.0.0.1:${exchangePort}` }),
      ...(simulated && !given.has('accountsFile') ? { accountsFile: paths.exchangeAccounts } : {}),
      ...(clickHousePlace(settings).kind === 'embedded' && settings.clickhousePort === 0
        ? { clickhousePort: await this.#claims.claimFrom(DEFAULT_PORTS.clickhouse) }
        : {}),
    };
    const logs = new Map<string, LogFile>();
    const filter = new NewsFilter(() => systemClock.nowMs());
    const context = {
      settings: this.#settings,
      onNews,
      onLine: (part: string, text: string) => {
        const log = logs.get(part) ?? new LogFile(join(paths.logs, `${part}.log`), onNews);
        logs.set(part, log);
        log.write(text);
        const news = filter.newsOf(part, text);
        if (news !== undefined) onNews(news);
      },
    };
    if (exchangePort !== undefined) {
      const flags = ['--port', String(exchangePort), '--data', paths.folder, ...this.options.exchangeFlags];
      this.#exchange = exchangePart(context, flags);
    }
    if (clickHousePlace(settings).kind === 'embedded') this.#clickhouse = warehousePart(context);
    this.#transform = transformPart(context);
    this.#collect = collectPart(context);
    const feed = async () => {
      await this.#exchange?.start(both);
      if (this.#exchange) writeExchangeAccounts(paths.exchangeAccounts, this.#exchange.ready['accounts']);
      await this.#collect?.start(both);
    };
    const store = async () => {
      await this.#clickhouse?.start(both);
      await this.#transform?.start(both);
    };
    await Promise.all([feed(), store()]).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    });
  }

  /** Whoever still runs when its time in `STOP_MS` is over is killed; time that one did not need is the next one's. */
  async stop(): Promise<void> {
    const startedAt = performance.now();
    let endsAt = 0;
    const stop = (part: SupervisedProcess | undefined, mayTakeMs: number) => {
      endsAt += mayTakeMs + STOP_MS.leaving;
      return part?.stop(startedAt + endsAt - performance.now());
    };
    await stop(this.#collect, STOP_MS.collector);
    await stop(this.#transform, STOP_MS.worker);
    const clickhouse = stop(this.#clickhouse, STOP_MS.clickhouse);
    await Promise.all([clickhouse, this.#exchange?.stop(startedAt + endsAt - performance.now())]);
    this.#claims.release();
  }

  async #exchangePort(): Promise<number> {
    const { exchangePort } = this.options;
    if (exchangePort === undefined) return this.#claims.claimFrom(DEFAULT_PORTS.exchange);
    if (!(await this.#claims.claim(exchangePort))) {
      throw new UsageError(`port ${exchangePort} is taken; choose another with --exchange-port, or leave it out`);
    }
    return exchangePort;
  }
}

/** Whether another program has taken one of them since it was chosen. */
async function oneIsTaken(ports: readonly number[]): Promise<boolean> {
  for (const port of ports) if (!(await isFreePort(port))) return true;
  return false;
}

const embedded = (tcpPort: unknown) =>
  tcpPort === undefined ? 'embedded' : `embedded, native protocol on port ${String(tcpPort)}`;

function line(part: SupervisedProcess, about: string): PartLine {
  const { address, url, health } = part.ready;
  return { name: part.name, state: part.state, address: String(address ?? url ?? health ?? ''), about };
}
