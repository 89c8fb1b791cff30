const SCALE = 12;
const LIMIT = 10n ** 38n;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;

/**
 * Parses a decimal text (JSON's number syntax, leading zeros allowed) into an integer of 10^-12 units, without rounding.
 * Throws RangeError when the text is not a number, has more than 12 significant decimals, or exceeds Decimal(38, 12).
 */
export function parseDecimal12(text: string): bigint {
  const match = text.length <= 200 ? NUMBER.exec(text) : null;
  if (!match) throw new RangeError(`not a decimal number: ${JSON.stringify(text.slice(0, 60))}`);
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  // value = digits × 10^(exponent - fraction.length)
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const shift = SCALE + Number(exponent) - fraction.length;
  if (digits === '') return 0n;
  if (digits.length + shift > 38) throw new RangeError(`does not fit Decimal(38, 12): ${text}`);
  let kept = digits;
  if (shift < 0) {
    const cut = digits.length + shift;
    if (/[1-9]/.test(digits.slice(Math.max(0, cut)))) throw new RangeError(`has more than 12 decimals: ${text}`);
    kept = digits.slice(0, Math.max(0, cut));
  }
  const units = kept === '' ? 0n : BigInt(kept) * 10n ** BigInt(Math.max(0, shift));
  if (units >= LIMIT) throw new RangeError(`does not fit Decimal(38, 12): ${text}`);
  return sign === '-' ? -units : units;
}
