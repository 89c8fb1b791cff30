/** Micros in one USDC. */
export const MICROS = 1_000_000;
/** Payout of one hundredth of a winning share, micros; also the cost of a hundredth of a YES and NO pair. */
export const PAIR_MICROS = 10_000;
/** Largest order: a billion shares. Its value at any price and fee is far below the limit of exact integers. */
export const MAX_QUANTITY = 1e11;
/** Maximum of all deposits together: a billion USDC. Every amount then prints as an exact decimal. */
export const MAX_MONEY = 1e15;

/** @throws RangeError unless the value is an exact integer: the last check of the ledger */
export function exact(value: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not an exact integer`);
  return value;
}

/** Value of a quantity (hundredths) at a price (cents), micros. */
export function worth(price: number, quantity: number): number {
  return exact(price * quantity * 100);
}

/** Fee on a quantity (hundredths) at a price (cents), rounded up to the next micro. */
export function feeOf(price: number, quantity: number, feeBps: number): number {
  const hundredfold = price * quantity * feeBps;
  if (!Number.isSafeInteger(hundredfold)) {
    const big = BigInt(price) * BigInt(quantity) * BigInt(feeBps);
    return exact(Number((big + 99n) / 100n));
  }
  const rest = hundredfold % 100;
  return (hundredfold - rest) / 100 + (rest > 0 ? 1 : 0);
}

/** The largest quantity (hundredths) whose value and fee a budget (micros) can pay. */
export function affordable(price: number, budget: number, feeBps: number): number {
  // The fee rounds up to a whole micro and the budget is whole, so the rounded fee fits if and only if the exact one does.
  return divideDown(budget, 100, price * (10_000 + feeBps));
}

/** `cost × sold ÷ held`, rounded half to even. */
export function shareOfCost(cost: number, sold: number, held: number): number {
  const product = cost * sold;
  if (!Number.isSafeInteger(product) || held > Number.MAX_SAFE_INTEGER / 2) {
    const big = BigInt(cost) * BigInt(sold);
    const divisor = BigInt(held);
    const down = big / divisor;
    const twice = (big % divisor) * 2n;
    const up = twice > divisor || (twice === divisor && down % 2n === 1n);
    return exact(Number(up ? down + 1n : down));
  }
  const rest = product % held;
  const down = (product - rest) / held;
  const twice = rest * 2;
  return twice > held || (twice === held && down % 2 === 1) ? down + 1 : down;
}

/** Average cost of one share, micros, rounded half to even; 0 without shares. */
export const averagePrice = (costMicros: number, hundredths: number): number =>
  hundredths === 0 ? 0 : shareOfCost(costMicros, 100, hundredths);

/** `floor(a × b ÷ divisor)`, exactly. */
function divideDown(a: number, b: number, divisor: number): number {
  const product = a * b;
  if (!Number.isSafeInteger(product)) return exact(Number((BigInt(a) * BigInt(b)) / BigInt(divisor)));
  return (product - (product % divisor)) / divisor;
}

/**
 * A decimal as an integer of its smallest steps (`scaled(0.29, 2)` is 29), read from its shortest text and so not
 * rounded; undefined when it has more decimals or is too large to be exact.
 */
function scaled(value: number | string, decimals: number): number | undefined {
  const match = /^(-?)(\d{1,17})(?:\.(\d+))?$/.exec(String(value));
  if (!match) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  const kept = fraction.slice(0, decimals).padEnd(decimals, '0');
  if (/[1-9]/.test(fraction.slice(decimals))) return undefined;
  const steps = Number(`${whole}${kept}`);
  if (!Number.isSafeInteger(steps)) return undefined;
  return sign && steps > 0 ? -steps : steps;
}

/** Cents of a price; undefined unless it is a multiple of 0.01. The engine checks the range. */
export const centsOf = (price: number | string): number | undefined => scaled(price, 2);
/** Hundredths of a share; undefined unless it is a multiple of 0.01. */
export const hundredthsOf = (shares: number | string): number | undefined => scaled(shares, 2);
/** Micros of an amount of USDC; undefined unless it is a multiple of 0.000001. */
export const microsOf = (usdc: number | string): number | undefined => scaled(usdc, 6);

/** Decimals for output: the nearest double, which prints as the exact decimal. */
export const priceFromCents = (cents: number): number => cents / 100;
export const sharesFromHundredths = (hundredths: number): number => hundredths / 100;
export const usdcFromMicros = (micros: number): number => micros / MICROS;
