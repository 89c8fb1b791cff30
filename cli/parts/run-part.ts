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
import { type Announcement, announce, type PartName } from './registry.js';

/** What a part is built from. */
export interface PartContext {
  readonly settings: Settings;
  readonly given: ReadonlySet<SettingName>;
  readonly log: Logger;
  readonly metrics: Registry;
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
  const wired = await wire({ settings, given, log, metrics });
  const health = new HealthServer({ port: settings.metricsPort }, metrics, wired.health);
  const lifecycle = new Lifecycle([health, ...wired.components]);
  let known: { end(): void } | undefined;
  try {
    await lifecycle.start(signal);
    const about: Announcement = { health: health.url, ...wired.about?.() };
    known = announce(settings.data, part, about);
    process.stdout.write(`${JSON.stringify({ ready: true, part, pid: process.pid, ...about })}\n`);
    await Promise.race([untilStopped(signal), ...(wired.failed ? [wired.failed] : [])]);
  } finally {
    known?.end();
    await lifecycle.stop();
  }
}

/** Rejects with the reason of the stop once the signal is aborted. */
export function untilStopped(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason ?? new Stopped('asked to')), { once: true });
  });
}
