import type { Command } from 'commander';
import { collectDefaultMetrics, Registry } from 'prom-client';
import {
  type Component,
  createLogger,
  type Health,
  HealthServer,
  Lifecycle,
  type Logger,
  processSignal,
  type SettingName,
  type Settings,
  Stopped,
} from '../../core/index.js';
import { settingsOf } from '../settings.js';
import { openDataFolder } from './data-folder.js';
import { ServiceEntry } from './entry.js';
import { ignoreOutputErrors } from './output.js';
import type { Announcement, ServiceName } from './registry.js';

/** The context in which a service is created. */
export interface ServiceContext {
  readonly settings: Settings;
  readonly given: ReadonlySet<SettingName>;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Aborted when the service should stop, also while it is being created. */
  readonly signal: AbortSignal;
  /** Sets the cause that /healthz shows until the service is ready. */
  readonly setWaitCause: (cause: string) => void;
}

/** A service that is created but not started. */
export interface WiredService {
  /** Started in order, stopped in reverse. */
  readonly components: readonly Component[];
  readonly health: () => Health;
  /** Rejects when the running service cannot continue; the process then exits with that error. */
  readonly failed?: Promise<never>;
  /** The address that others connect to; called once everything is started. */
  readonly about?: () => Omit<Announcement, 'health'>;
}

/**
 * Runs one service until SIGINT, SIGTERM, SIGHUP, the end of its parent's pipe, or a failure. It serves /healthz and has an
 * entry in DATA/run/ from the start, and prints one line of JSON on stdout when ready. All other output goes to stderr.
 * @param check throws when the service may not start; called before anything is created
 */
export async function runService(
  command: Command,
  service: ServiceName,
  wire: (context: ServiceContext) => WiredService | Promise<WiredService>,
  check: (settings: Settings) => void = () => undefined,
): Promise<void> {
  const { settings, given } = settingsOf(command);
  check(settings);
  const signal = processSignal(settings.stopWithParent ? process.stdin : undefined);
  const log = createLogger({ service, level: settings.logLevel, plain: process.stderr.isTTY === true });
  ignoreOutputErrors((line) => log.warn(line));
  if (openDataFolder(settings.data)) log.info(`created the data folder ${settings.data}`);
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  let health: () => Health = unhealthyBecause('starting');
  const server = new HealthServer({ host: settings.metricsHost, port: settings.metricsPort }, metrics, () => health());
  const entry = new ServiceEntry(settings.data, service, log);
  let lifecycle: Lifecycle | undefined;
  const run = async () => {
    await server.start();
    entry.publish({ health: server.url });
    const setWaitCause = (cause: string) => {
      health = unhealthyBecause(cause);
    };
    const wired = await wire({ settings, given, log, metrics, signal, setWaitCause });
    lifecycle = new Lifecycle(wired.components);
    await lifecycle.start(signal);
    health = wired.health;
    const about: Announcement = { health: server.url, ...wired.about?.() };
    entry.publish(about);
    process.stdout.write(`${JSON.stringify({ ready: true, service, pid: process.pid, ...about })}\n`);
    await Promise.race([untilStopped(signal), ...(wired.failed ? [wired.failed] : [])]);
  };
  try {
    await runUntilStopped(run);
  } finally {
    entry.end();
    await lifecycle?.stop();
    await server.stop();
  }
}

const unhealthyBecause = (cause: string) => (): Health => ({ ok: false, detail: { cause } });

/** Resolves once the signal is aborted. */
export function untilStopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Runs the work; `Stopped` is not an error. */
export async function runUntilStopped(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
}
