/** Micros in one USDC. */
export const MICROS = 1_000_000;
const HUNDREDTHS = 100;

/** Whole micros of an amount of USDC in decimals. */
export const microsOf = (usdc: string): number => Math.round(Number(usdc) * MICROS);
/** Whole hundredths of a quantity of shares in decimals. */
export const hundredthsOf = (shares: string): number => Math.round(Number(shares) * HUNDREDTHS);
/** Whole cents of a price, 0 to 1. */
export const centsOf = (price: string | number): number => Math.round(Number(price) * 100);

/** Micros that shares (hundredths) cost at a price (cents). */
export const costOf = (hundredths: number, cents: number): number => Math.floor((hundredths * cents * MICROS) / 10_000);

/** The decimal text of a price in cents, or of hundredths of a share. */
export const hundredthsText = (whole: number): string => (whole / HUNDREDTHS).toFixed(2);
/** The decimal text of micros of USDC. */
export const microsText = (micros: number): string => (micros / MICROS).toFixed(6);
