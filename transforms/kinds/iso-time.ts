const ISO = /^(\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|z|[+-]\d{2}:?\d{2})?$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * An ISO 8601 time as Unix microseconds; UTC unless it names a zone. Undefined for other texts and for years outside the
 * range of DateTime64 (1900 to 2299).
 */
export function parseIsoMicros(text: string): number | undefined {
  if (text.length > 40) return undefined;
  if (DAY.test(text)) return inRange(Date.parse(`${text}T00:00:00Z`) * 1000);
  const match = ISO.exec(text);
  if (!match) return undefined;
  const [, time = '', fraction = '', zone = 'Z'] = match;
  const micros = Number(fraction.slice(0, 6).padEnd(6, '0'));
  return inRange(Date.parse(`${time.replace(/[t ]/, 'T')}${zone.toUpperCase()}`) * 1000 + micros);
}

const FIRST = Date.UTC(1900, 0, 1) * 1000;
const END = Date.UTC(2300, 0, 1) * 1000;

function inRange(micros: number): number | undefined {
  return micros >= FIRST && micros < END ? micros : undefined;
}
