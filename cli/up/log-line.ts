const WARN = 40;
const SILENCE_MS = 30_000;
const REMEMBERED = 200;

/**
 * Picks out of the parts' log lines what a person at the screen should know: warnings and errors, each said at most
 * every 30 s. The last words of a part that ends (`chancery: …`) are told by its supervisor.
 */
export class NewsFilter {
  #said = new Map<string, { atMs: number; repeated: number }>();

  constructor(private readonly nowMs: () => number) {}

  /** The news of a line, or undefined. */
  newsOf(part: string, line: string): string | undefined {
    const text = warningOf(line);
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

function warningOf(line: string): string | undefined {
  let entry: { level?: unknown; msg?: unknown; err?: { message?: unknown } };
  try {
    entry = JSON.parse(line) as typeof entry;
  } catch {
    return undefined;
  }
  if (typeof entry.level !== 'number' || entry.level < WARN) return undefined;
  const text = String(entry.msg);
  const cause = entry.err?.message;
  return typeof cause === 'string' && !text.includes(cause) ? `${text}: ${cause}` : text;
}
