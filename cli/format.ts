const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `1536000` → `1.5 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

/** `full in 2.5 days at the present rate`. */
export const formatDaysLeft = (days: number): string =>
  `full in ${days < 10 ? days.toFixed(1) : formatCount(Math.floor(days))} days at the present rate`;

/** What to do when the disk is nearly full. */
export const STORE_LESS =
  'free some space, choose another disk with --data, or store less (--body-retention-days, --no-keep-bodies)';

/** `1234567` → `1,234,567`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** A duration for display: `12 ms`, `1.4 s`, `12 s`, `3 min`, `2.5 h`, `4 d`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${(seconds / 3600).toFixed(1)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** Rows as aligned columns, two spaces apart; columns named in `right` are aligned to the right. */
export function columns(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
