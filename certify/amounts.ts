/* Exact amounts as whole numbers of the smallest unit; as texts, decimals without trailing zeros. */

/** Whole units of 10^-decimals of a decimal that JSON gave as a number. */
export const unitsOf = (value: number, decimals: number): bigint => BigInt(Math.round(value * 10 ** decimals));

export const CENTS = 2;
export const HUNDREDTHS = 2;
export const MICROS = 6;

/** `-120`, 2 decimals: `-1.2`. */
export function decimalText(units: bigint, decimals: number): string {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0');
  const text = `${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}`;
  return (units < 0n ? '-' : '') + normalised(text);
}

/** A decimal of ClickHouse without trailing zeros; anything else unchanged. */
export function normalised(text: string): string {
  if (!/^-?\d+\.\d+$/.test(text)) return text;
  const short = text.replace(/\.?0+$/, '');
  return short === '-0' ? '0' : short;
}

/** A decimal number as a text, of at most six decimals. */
export const microsText = (value: number): string => decimalText(unitsOf(value, MICROS), MICROS);
