const ISO_8601 =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;

/** An ISO 8601 time as Unix seconds; a date alone means midnight, a time without an offset is UTC. */
export function parseIsoSeconds(text: string): number | undefined {
  const match = ISO_8601.exec(text);
  if (!match) return undefined;
  const part = (group: number): number => Number(match[group] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  if (hour > 24 || minute > 59 || second > 60 || (hour === 24 && minute + second + part(7) > 0)) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // A date that does not exist (30 February) would roll over to the next month.
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const offset = offsetSeconds(match[8]);
  if (offset === undefined) return undefined;
  const fraction = Number(`0.${match[7] ?? '0'}`);
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + second + fraction - offset;
}

function offsetSeconds(text: string | undefined): number | undefined {
  if (text === undefined || text === 'Z') return 0;
  const digits = text.slice(1).replace(':', '').padEnd(4, '0');
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))];
  if (hours > 23 || minutes > 59) return undefined;
  return (text.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** Unix microseconds as ISO 8601 with milliseconds. */
export const isoOfMicros = (micros: number): string => new Date(Math.floor(micros / 1000)).toISOString();
