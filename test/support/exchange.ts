import { randomUUID } from 'node:crypto';
import { type Clock, createLogger, flagOf, Lifecycle, systemClock } from '../../core/index.js';
import { createExchange } from '../../exchange/create-exchange.js';
import type { ExchangeCore } from '../../exchange/engine/index.js';
import type { ReadyLine } from '../../exchange/index.js';
import { ExchangeServer } from '../../exchange/server/exchange-server.js';
import { parseQuirks } from '../../exchange/server/quirks.js';
import { connectionTo, type ExchangeConnection } from './exchange-connection.js';
import { ServiceProcess } from './service-process.js';

interface Options {
  /** Default 1. */
  readonly seed?: number;
  /** Events that are open from the start. Default 3. */
  readonly events?: number;
  /** Seeded accounts with an API key. Default 1. */
  readonly accounts?: number;
  /** Accounts for bots. Default 0. A process of its own starts the bots, in this one the test does. */
  readonly bots?: number;
  /** Default 0: events do not end, and bots do not trade. */
  readonly pace?: number;
  readonly quirks?: string;
  /** Frames per second of the load generator. Default 0. */
  readonly load?: number;
  /** Data folder. Default none: everything is in memory. */
  readonly data?: string;
  /** Default 0: a free one. */
  readonly port?: number;
  /** Default: the test that starts it, or the file when no test runs. The caller ends it with `stop`. */
  readonly endedBy?: 'caller';
}

export interface TestExchangeOptions extends Options {
  readonly clock?: Clock;
  readonly authTimeoutMs?: number;
}

export interface TestExchangeProcessOptions extends Options {
  readonly logLevel?: string;
  /** Whether the ready line contains the bots' accounts. */
  readonly printBots?: boolean;
  readonly stopWithParent?: boolean;
}

/** In the test's own process: its engine and its metrics can be used too. */
export interface TestExchange extends ExchangeConnection {
  readonly core: ExchangeCore;
  readonly server: ExchangeServer;
  stop(): Promise<void>;
}

export interface TestExchangeProcess extends ExchangeConnection {
  readonly service: ServiceProcess;
  /** Ends it cleanly; resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** A real exchange on a free port, quiet by default: `chancery exchange` as a process of its own, or in this process. */
export async function startTestExchange(
  options: TestExchangeProcessOptions & { readonly ownProcess: true },
): Promise<TestExchangeProcess>;
export async function startTestExchange(options?: TestExchangeOptions): Promise<TestExchange>;
export async function startTestExchange(
  options: TestExchangeOptions | (TestExchangeProcessOptions & { readonly ownProcess: true }) = {},
): Promise<TestExchange | TestExchangeProcess> {
  const exchange = 'ownProcess' in options ? await inItsOwnProcess(options) : await inThisProcess(options);
  if (options.endedBy !== 'caller') {
    // Loaded late, for `npm run chaos` starts an exchange outside of vitest.
    const { atEnd } = await import('./at-end.js');
    atEnd('service' in exchange ? () => exchange.service.kill9() : () => exchange.stop());
  }
  return exchange;
}

const QUIET = { port: 0, seed: 1, events: 3, accounts: 1, bots: 0, pace: 0, quirks: '', load: 0 } as const;

async function inThisProcess(options: TestExchangeOptions): Promise<TestExchange> {
  const { quirks, load, port, data, clock = systemClock, authTimeoutMs, ...world } = { ...QUIET, ...options };
  const log = createLogger({ service: 'exchange', level: 'error' });
  const folder = data === undefined ? {} : { dataDir: data };
  const core = createExchange({ ...world, ...folder, takerFeeBps: 20, clock, log });
  const controlToken = randomUUID();
  const server = new ExchangeServer({
    ...folder,
    core,
    host: '127.0.0.1',
    port,
    quirks: parseQuirks(quirks),
    controlToken,
    loadFramesPerSecond: load,
    seed: world.seed,
    clock,
    log,
    authTimeoutMs,
  });
  const lifecycle = new Lifecycle([core, server]);
  await lifecycle.start(new AbortController().signal);
  const { url } = server;
  const control = { url: `${url}/_control`, token: controlToken };
  const ready: ReadyLine = {
    ready: true,
    url,
    ws: url.replace('http', 'ws'),
    control,
    accounts: core.seededAccounts(),
  };
  return { ...connectionTo(ready), core, server, stop: () => lifecycle.stop() };
}

async function inItsOwnProcess(
  options: TestExchangeProcessOptions & { readonly ownProcess: true },
): Promise<TestExchangeProcess> {
  const { ownProcess: _, endedBy: __, ...given } = { ...QUIET, ...options };
  const flags = Object.entries(given).flatMap(([name, value]) =>
    value === '' || value === false ? [] : value === true ? [flagOf(name)] : [flagOf(name), String(value)],
  );
  const service = await ServiceProcess.start<ReadyLine>('exchange', flags);
  return { ...connectionTo(service.ready), service, stop: () => service.stop() };
}
