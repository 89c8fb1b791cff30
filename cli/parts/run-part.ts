import type { Command } from 'commander';
import { collectDefaultMetrics, Registry } from 'prom-client';
import {
  type Component,
  createLogger,
  describeError,
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
import { type Announcement, announce, type PartName } from './registry.js';

/** What a part is built from. */
export interface PartContext {
  readonly settings: Settings;
  readonly given: ReadonlySet<SettingName>;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Aborted when the part is asked to end, also while it is being wired. */
  readonly signal: AbortSignal;
}

/** A part that is wired but not started. */
export interface WiredPart {
  /** Started in order, stopped in reverse. */
  readonly components: readonly Component[];
  readonly health: () => Health;
  /** Rejects when the running part cannot go on; the process then ends with that error. */
  readonly failed?: Promise<never>;
  /** What others connect to, asked once everything is started. */
  readonly about?: () => Omit<Announcement, 'health'>;
}

/**
 * Runs one part until SIGINT, SIGTERM, SIGHUP, the end of its parent's pipe, or a failure. When it is ready it makes
 * itself known in the data folder and prints one line of JSON on stdout; everything else goes to stderr.
 */
export async function runPart(
  command: Command,
  part: PartName,
  wire: (context: PartContext) => WiredPart | Promise<WiredPart>,
): Promise<void> {
  const { settings, given } = settingsOf(command);
  const signal = processSignal(settings.stopWithParent ? process.stdin : undefined);
  const log = createLogger({ part, level: settings.logLevel, plain: process.stderr.isTTY === true });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  let lifecycle: Lifecycle | undefined;
  let known: { end(): void } | undefined;
  const run = async () => {
    const wired = await wire({ settings, given, log, metrics, signal });
    const health = new HealthServer({ port: settings.metricsPort }, metrics, wired.health);
    lifecycle = new Lifecycle([health, ...wired.components]);
    await lifecycle.start(signal);
    const about: Announcement = { health: health.url, ...wired.about?.() };
    known = announceOrSay(settings.data, part, about, log);
    process.stdout.write(`${JSON.stringify({ ready: true, part, pid: process.pid, ...about })}\n`);
    await Promise.race([untilStopped(signal), ...(wired.failed ? [wired.failed] : [])]);
  };
  try {
    await endingInOrder(run);
  } finally {
    known?.end();
    await lifecycle?.stop();
  }
}

/** A part that cannot write its entry, on a full disk for instance, runs all the same; `status` does not see it. */
function announceOrSay(data: string, part: PartName, about: Announcement, log: Logger): { end(): void } | undefined {
  try {
    return announce(data, part, about);
  } catch (error) {
    log.warn(`cannot write into ${data}/run (${describeError(error)}): \`chancery status\` does not see this part`);
    return undefined;
  }
}

/** Resolves once the signal is aborted. */
export function untilStopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Runs something long; being asked to stop, also before it was ready, is its orderly end. */
export async function endingInOrder(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
}
