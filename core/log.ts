import { pino } from 'pino';
import { printable } from './printable.js';

export type Logger = pino.Logger;

/** Buffer for lines that cannot be written (full disk), bytes; further lines are dropped. */
const MAX_BUFFERED_BYTES = 1_000_000;

/**
 * Logs for operators on stderr: one line per event, with structured fields. Lines are JSON, or with `plain` short text
 * (`12:00:01 warn collect stream lost {"event":"…"}`) for a terminal.
 */
export function createLogger(options: { service: string; level?: string; plain?: boolean }): Logger {
  const base = { base: { service: options.service }, level: options.level ?? 'info' };
  if (!options.plain) {
    const stderr = pino.destination({ dest: 2, sync: true, maxLength: MAX_BUFFERED_BYTES });
    stderr.on('error', () => undefined);
    return pino(base, stderr);
  }
  return pino(base, { write: (line: string) => void process.stderr.write(`${printable(plainLine(line))}\n`) });
}

const LEVELS: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

function plainLine(line: string): string {
  const { level, time, service, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const fields = { ...rest, ...(err ? { error: (err as { message?: string }).message } : {}) };
  const extra = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : '';
  const at = new Date(time as number).toISOString().slice(11, 19);
  return `${at} ${LEVELS[level as number] ?? level} ${service}: ${msg}${extra}`;
}
