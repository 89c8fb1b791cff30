const WARN = 40;
const REPEAT_MS = 30_000;
const MAX_REMEMBERED = 200;

/**
 * Selects the log lines of services that are shown on the screen: warnings, errors and ends of outages, the same message at
 * most every 30 s. The last line of a service that ends (`chancery: …`) is reported by its supervisor.
 */
export class MessageFilter {
  #shown = new Map<string, { atMs: number; repeated: number }>();

  constructor(private readonly nowMs: () => number) {}

  /** The message to show for a log line, or undefined. */
  messageOf(service: string, line: string): string | undefined {
    const text = messageIn(line);
    if (text === undefined) return undefined;
    const message = `${service}: ${text}`;
    const atMs = this.nowMs();
    const shown = this.#shown.get(message);
    if (shown && atMs - shown.atMs < REPEAT_MS) {
      shown.repeated += 1;
      return undefined;
    }
    if (this.#shown.size >= MAX_REMEMBERED) this.#shown.clear();
    this.#shown.set(message, { atMs, repeated: 0 });
    return shown && shown.repeated > 0 ? `${message} (${shown.repeated} more times since then)` : message;
  }
}

interface LogEntry {
  readonly level?: unknown;
  readonly msg?: unknown;
  readonly err?: { readonly message?: unknown };
  /** The cause, if it is not part of the message. */
  readonly reason?: unknown;
  readonly cause?: unknown;
  readonly why?: unknown;
  /** At the end of an outage: number of failures and duration. */
  readonly failures?: unknown;
  readonly seconds?: unknown;
}

function messageIn(line: string): string | undefined {
  let entry: LogEntry;
  try {
    entry = JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
  if (typeof entry.level !== 'number') return undefined;
  const text = String(entry.msg);
  if (entry.level < WARN) return typeof entry.seconds === 'number' && entry.failures ? text : undefined;
  const causes = [entry.err?.message, entry.reason, entry.cause, entry.why];
  const cause = causes.find((c) => typeof c === 'string' && c !== '' && !text.includes(c));
  return cause === undefined ? text : `${text}: ${String(cause)}`;
}
