const WARN = 40;

/**
 * What a person at the screen should know of a part's log line: warnings and errors; undefined for the rest. The last
 * words of a part that ends (`chancery: …`) are told by its supervisor.
 */
export function newsOf(part: string, line: string): string | undefined {
  let entry: { level?: unknown; msg?: unknown; err?: { message?: unknown } };
  try {
    entry = JSON.parse(line) as typeof entry;
  } catch {
    return undefined;
  }
  if (typeof entry.level !== 'number' || entry.level < WARN) return undefined;
  const cause = entry.err?.message;
  return `${part}: ${String(entry.msg)}${typeof cause === 'string' ? `: ${cause}` : ''}`;
}
