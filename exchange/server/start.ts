import { randomUUID } from 'node:crypto';
import { createLogger, HealthServer, Lifecycle, type Logger, systemClock } from '../../core/index.js';
import { createExchange } from '../create-exchange.js';
import type { ExchangeCore, SeededAccount } from '../engine/index.js';
import { World } from '../world/index.js';
import { ExchangeServer } from './exchange-server.js';
import { type ExchangeSettings, readExchangeOptions } from './options.js';

/** What a ready exchange says of itself, on one line of JSON. */
export interface ReadyLine {
  readonly ready: true;
  /** `http://host:port`: every REST prefix. */
  readonly url: string;
  /** `ws://host:port`: every stream path. */
  readonly ws: string;
  readonly control: { readonly url: string; readonly token: string };
  readonly accounts: readonly SeededAccount[];
  /** With `printBots`. */
  readonly bots?: readonly SeededAccount[];
}

/** What bots need that nobody else gets; they trade as clients, so nothing here does. */
interface BotsOptions {
  readonly accounts: readonly SeededAccount[];
  readonly seed: number;
  readonly pace: number;
  /** What the informed know: the hidden chance of every market as it is now, 0..1, by market ID. */
  fairValues(): ReadonlyMap<string, number>;
}

export interface RunningExchange {
  readonly ready: ReadyLine;
  /** Undefined when nobody is to trade: no bots, or pace 0. */
  readonly bots: BotsOptions | undefined;
  /** Address of /healthz and /metrics; undefined when none was asked for. */
  readonly metricsUrl: string | undefined;
  /** Ends connections, then the core; resolves when everything is kept and let go. May be called twice. */
  close(): Promise<void>;
}

/**
 * Starts a simulated exchange in this process, without its bots: the caller starts them with `bots`.
 * @param options by name, as `EXCHANGE_OPTIONS` reads them
 * @throws UsageError for an option that does not fit, a taken port, data that cannot be read
 */
export async function startExchange(
  options: Readonly<Record<string, unknown>> = {},
  context: { readonly signal?: AbortSignal; readonly log?: Logger } = {},
): Promise<RunningExchange> {
  const settings = readExchangeOptions(options);
  const { signal = new AbortController().signal, log = createLogger({ part: 'exchange' }) } = context;
  const world = new World(settings.seed);
  const core = createCore(settings, world, log);
  const controlToken = randomUUID();
  const { host, port, quirks, load, seed, pace, metricsPort, metricsHost } = settings;
  const server = new ExchangeServer({
    core,
    host,
    port,
    quirks,
    controlToken,
    dataDir: settings.data,
    loadFramesPerSecond: load,
    seed,
    clock: systemClock,
    log,
  });
  const health =
    metricsPort < 0
      ? undefined
      : new HealthServer({ host: metricsHost, port: metricsPort }, server.metrics.registry, () => ({
          ok: true,
          detail: { events: core.openEventIds().length },
        }));
  const lifecycle = new Lifecycle([core, server, ...(health ? [health] : [])]);
  await lifecycle.start(signal);
  const ready: ReadyLine = {
    ready: true,
    url: server.url,
    ws: server.url.replace('http', 'ws'),
    control: { url: `${server.url}/_control`, token: controlToken },
    accounts: core.seededAccounts(),
    ...(settings.printBots ? { bots: core.botAccounts() } : {}),
  };
  const alive = settings.bots > 0 && pace > 0;
  const bots = { accounts: core.botAccounts(), seed, pace, fairValues: () => world.fairValues() };
  return { ready, bots: alive ? bots : undefined, metricsUrl: health?.url, close: () => lifecycle.stop() };
}

function createCore(settings: ExchangeSettings, world: World, log: Logger): ExchangeCore {
  const { seed, events, bots, pace, accounts, takerFeeBps, data } = settings;
  const options = {
    seed,
    events,
    bots,
    pace,
    accounts,
    takerFeeBps,
    ...(data === undefined ? {} : { dataDir: data }),
    clock: systemClock,
    log,
  };
  return createExchange(options, world);
}
