import { randomUUID } from 'node:crypto';
import { createLogger, HealthServer, Lifecycle, type Logger, systemClock } from '../../core/index.js';
import { createExchange } from '../create-exchange.js';
import type { ExchangeCore, SeededAccount } from '../engine/index.js';
import { TradingState } from '../trading-state.js';
import { World } from '../world/index.js';
import { ExchangeServer } from './exchange-server.js';
import { type ExchangeSettings, readExchangeOptions } from './options.js';

/** The ready line: printed as one line of JSON. */
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

/** What bots need besides the public interface. They trade as clients, in a process of their own. */
interface BotsOptions {
  readonly accounts: readonly SeededAccount[];
  readonly seed: number;
  readonly pace: number;
  /** For informed traders: the current hidden chance of every market, 0..1, by market ID. */
  fairValues(): ReadonlyMap<string, number>;
}

export interface RunningExchange {
  readonly ready: ReadyLine;
  /** Undefined without bots or at pace 0. */
  readonly bots: BotsOptions | undefined;
  /** Address of /healthz and /metrics; undefined without `metrics`. */
  readonly metricsUrl: string | undefined;
  /** Closes connections, then stops the core; resolves when everything is stored and released. Idempotent. */
  close(): Promise<void>;
}

interface StartContext {
  readonly signal?: AbortSignal;
  readonly log?: Logger;
  /** Where /healthz and /metrics are served; nowhere by default. */
  readonly metrics?: { readonly host: string; readonly port: number };
}

/**
 * Starts a simulated exchange in this process, without its bots: the caller starts them with `bots`.
 * @param options by name, see `EXCHANGE_OPTIONS`
 * @throws UsageError for an invalid option, a taken port, data that cannot be read
 */
export async function startExchange(
  options: Readonly<Record<string, unknown>> = {},
  context: StartContext = {},
): Promise<RunningExchange> {
  const settings = readExchangeOptions(options);
  const { signal = new AbortController().signal, log = createLogger({ service: 'exchange' }), metrics } = context;
  const world = new World(settings.seed);
  const trading = new TradingState();
  const core = createCore(settings, world, trading, log);
  const controlToken = randomUUID();
  const { host, port, quirks, load, seed, pace } = settings;
  const server = new ExchangeServer({
    core,
    trading,
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
    metrics === undefined
      ? undefined
      : new HealthServer(metrics, server.metrics.registry, () => ({
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

function createCore(settings: ExchangeSettings, world: World, trading: TradingState, log: Logger): ExchangeCore {
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
  return createExchange(options, world, trading);
}
