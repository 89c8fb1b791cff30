const WARN = 40;
const SILENCE_MS = 30_000;
const REMEMBERED = 200;

/**
 * Picks out of the parts' log lines what a person at the screen should know: warnings and errors, and the ends of
 * outages, each said at most every 30 s. The last words of a part that ends (`chancery: …`) are told by its supervisor.
 */
export class NewsFilter {
  #said = new Map<string, { atMs: number; repeated: number }>();

  constructor(private readonly nowMs: () => number) {}

  /** The news of a line, or undefined. */
  newsOf(part: string, line: string): string | undefined {
    const text = newsIn(line);
    if (text === undefined) return undefined;
    const news = `${part}: ${text}`;
    const atMs = this.nowMs();
    const said = this.#said.get(news);
    if (said && atMs - said.atMs < SILENCE_MS) {
      said.repeated += 1;
      return undefined;
    }
    if (this.#said.size >= REMEMBERED) this.#said.clear();
    this.#said.set(news, { atMs, repeated: 0 });
    return said && said.repeated > 0 ? `${news} (${said.repeated} more times meanwhile)` : news;
  }
}

interface LogEntry {
  readonly level?: unknown;
  readonly msg?: unknown;
  readonly err?: { readonly message?: unknown };
  /** Why, where the message itself does not say it. */
  readonly reason?: unknown;
  readonly cause?: unknown;
  readonly why?: unknown;
  /** How often and for how long it had failed, at the end of an outage. */
  readonly failures?: unknown;
  readonly seconds?: unknown;
}

function newsIn(line: string): string | undefined {
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
