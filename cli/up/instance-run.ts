import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '../../client/index.js';
import {
  type Component,
  DEFAULT_PORTS,
  isFreePort,
  loadAccounts,
  type SettingName,
  type Settings,
  STOP_MS,
  systemClock,
  UsageError,
} from '../../core/index.js';
import { killOrphan } from '../../warehouse/index.js';
import { clickHouseTarget } from '../service/clickhouse-target.js';
import { instancePaths } from '../service/instance.js';
import { findReadOnly } from '../service/read-only.js';
import { collectService, exchangeService, transformService, viewService, warehouseService } from './child-services.js';
import { writeExchangeAccounts } from './exchange-accounts.js';
import { LogFile } from './log-file.js';
import { MessageFilter } from './message-filter.js';
import { PortClaims } from './port-claims.js';
import { ServicesLock } from './services-lock.js';
import type { ServiceLine } from './status-view.js';
import type { SupervisedProcess } from './supervised-process.js';

/** Strangers reach the viewer: other machines, or, where accounts of a real exchange are recorded, other users of this one. */
const asksForToken = (settings: Settings, simulated: boolean): boolean =>
  !isLoopback(settings.viewerHost) || (!simulated && loadAccounts(settings).length > 0);

/** Number of attempts with other ports, if another program takes a port between the choice and the start. */
const ATTEMPTS = 3;

/** The exchange's flag with which its ready line has the bots' accounts: all of them are recorded, else the second one, a trader. */
const PRINT_BOTS = '--print-bots';

export interface InstanceOptions {
  readonly settings: Settings;
  readonly given: ReadonlySet<SettingName>;
  /** Port of the simulated exchange; undefined means the first free one from the default on. */
  readonly exchangePort: number | undefined;
  /** Further flags of the simulated exchange. */
  readonly exchangeFlags: readonly string[];
  readonly onMessage: (text: string) => void;
}

/**
 * All services of one instance on one machine. They stop in the order of the data flow, so that nothing stays in flight: the
 * collector, then the worker, then ClickHouse together with the exchange.
 */
export class InstanceRun implements Component {
  readonly name = 'instance';
  #exchange: SupervisedProcess | undefined;
  #clickhouse: SupervisedProcess | undefined;
  #transform: SupervisedProcess | undefined;
  #collect: SupervisedProcess | undefined;
  #view: SupervisedProcess | undefined;
  /** Including the addresses chosen at the start. */
  #settings: Settings;
  readonly #claims = new PortClaims();
  #lock: ServicesLock | undefined;

  constructor(private readonly options: InstanceOptions) {
    this.#settings = options.settings;
  }

  get settings(): Settings {
    return this.#settings;
  }

  get services(): readonly SupervisedProcess[] {
    return [this.#exchange, this.#clickhouse, this.#transform, this.#collect, this.#view].filter(
      (service) => service !== undefined,
    );
  }

  /** Address of the viewer, once it is ready. */
  get viewerUrl(): string {
    const address = String(this.#view?.ready['address'] ?? '');
    const { data, viewerLogin } = this.#settings;
    return viewerLogin ? `${address} (its token is in ${instancePaths(data).viewerToken})` : address;
  }

  /** The services for the status view, external ones included. */
  get lines(): ServiceLine[] {
    const { exchangeUrl, clickhouseUrl, clickhouseCluster } = this.#settings;
    return [
      ...(this.#exchange
        ? [line(this.#exchange, 'simulated exchange')]
        : [{ name: 'exchange', state: 'external' as const, address: exchangeUrl, about: 'recorded exchange' }]),
      ...(this.#clickhouse
        ? [line(this.#clickhouse, embedded(this.#clickhouse.ready['tcpPort']))]
        : [
            {
              name: 'clickhouse',
              state: 'external' as const,
              address: clickhouseUrl ?? clickhouseCluster ?? '',
              about: clickhouseCluster === undefined ? 'external server' : 'external cluster',
            },
          ]),
      ...(this.#collect ? [line(this.#collect, 'streams and polls → bus')] : []),
      ...(this.#transform ? [line(this.#transform, 'bus → ClickHouse, exactly once')] : []),
      ...(this.#view ? [line(this.#view, 'dashboards in the browser')] : []),
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
    const { settings, given, exchangeFlags, onMessage } = this.options;
    const paths = instancePaths(settings.data);
    mkdirSync(paths.logs, { recursive: true });
    const onWait = () => onMessage('waiting for the services of a killed `chancery up` to end');
    this.#lock ??= await ServicesLock.acquire(settings.data, onWait, signal);
    // Fails now, with one line, instead of starting a worker that waits.
    if (clickHouseTarget(settings).kind !== 'embedded') await (await findReadOnly(settings))?.close();
    const failed = new AbortController();
    const both = AbortSignal.any([signal, failed.signal]);
    const simulated = !given.has('exchangeUrl');
    const exchangePort = simulated ? await this.#exchangePort() : undefined;
    this.#settings = {
      ...settings,
      data: paths.folder,
      ...(exchangePort === undefined ? {} : { exchangeUrl: `http://127.0.0.1:${exchangePort}` }),
      ...(simulated && !given.has('accountsFile') ? { accountsFile: paths.exchangeAccounts } : {}),
      ...(clickHouseTarget(settings).kind === 'embedded' && settings.clickhousePort === 0
        ? { clickhousePort: await this.#claims.claimFrom(DEFAULT_PORTS.clickhouse) }
        : {}),
      ...(given.has('viewerLogin') ? {} : { viewerLogin: asksForToken(settings, simulated) }),
      ...(settings.viewerPort === 0 ? { viewerPort: await this.#claims.claimFrom(DEFAULT_PORTS.viewer) } : {}),
    };
    const logs = new Map<string, LogFile>();
    const filter = new MessageFilter(() => systemClock.nowMs());
    const context = {
      settings: this.#settings,
      lock: this.#lock.fd,
      onMessage,
      onLine: (service: string, text: string) => {
        const log = logs.get(service) ?? new LogFile(join(paths.logs, `${service}.log`), onMessage);
        logs.set(service, log);
        log.write(text);
        const news = filter.messageOf(service, text);
        if (news !== undefined) onMessage(news);
      },
    };
    if (exchangePort !== undefined) {
      const printed = exchangeFlags.includes(PRINT_BOTS) ? [] : [PRINT_BOTS];
      const flags = ['--port', String(exchangePort), '--data', paths.folder, ...exchangeFlags, ...printed];
      this.#exchange = exchangeService(context, flags);
    }
    if (clickHouseTarget(settings).kind === 'embedded') this.#clickhouse = warehouseService(context);
    this.#transform = transformService(context);
    this.#collect = collectService(context);
    this.#view = viewService(context);
    const feed = async () => {
      await this.#exchange?.start(both);
      if (this.#exchange) {
        const { accounts, bots } = this.#exchange.ready;
        const recorded = exchangeFlags.includes(PRINT_BOTS) ? bots : [bots ?? []].flat().slice(1, 2);
        writeExchangeAccounts(paths.exchangeAccounts, [accounts, recorded ?? []].flat());
      }
      await this.#collect?.start(both);
    };
    const store = async () => {
      await this.#clickhouse?.start(both);
      await this.#transform?.start(both);
    };
    await Promise.all([feed(), store(), this.#view.start(both)]).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    });
  }

  /** Kills a service that is still running after its time in `STOP_MS`; unused time is added to the next service's. */
  async stop(): Promise<void> {
    const startedAt = performance.now();
    let endsAt = 0;
    const stop = (service: SupervisedProcess | undefined, mayTakeMs: number) => {
      endsAt += mayTakeMs + STOP_MS.exit;
      return service?.stop(startedAt + endsAt - performance.now());
    };
    await Promise.all([stop(this.#collect, STOP_MS.collector), this.#view?.stop(endsAt)]);
    await stop(this.#transform, STOP_MS.worker);
    const clickhouse = stop(this.#clickhouse, STOP_MS.clickhouse);
    await Promise.all([clickhouse, this.#exchange?.stop(startedAt + endsAt - performance.now())]);
    // Its service was killed before it could kill a ClickHouse that hangs.
    if (this.#clickhouse) await killOrphan(this.#settings.data, STOP_MS.exit);
    this.#claims.release();
    this.#lock?.release();
    this.#lock = undefined;
  }

  async #exchangePort(): Promise<number> {
    const { exchangePort } = this.options;
    if (exchangePort === undefined) return this.#claims.claimFrom(DEFAULT_PORTS.exchange);
    if (!(await this.#claims.claim(exchangePort))) {
      throw new UsageError(`port ${exchangePort} is taken; choose another with --exchange-port, or omit it`);
    }
    return exchangePort;
  }
}

/** Whether another program has taken one of these ports since it was chosen. */
async function oneIsTaken(ports: readonly number[]): Promise<boolean> {
  for (const port of ports) if (!(await isFreePort(port))) return true;
  return false;
}

const embedded = (tcpPort: unknown) =>
  tcpPort === undefined ? 'embedded' : `embedded, native protocol on port ${String(tcpPort)}`;

function line(service: SupervisedProcess, about: string): ServiceLine {
  const { address, url, health } = service.ready;
  return { name: service.name, state: service.state, address: String(address ?? url ?? health ?? ''), about };
}
