import { isoOfMicros } from '../iso-time.js';

/*
 * Converts the engine's integers to decimals: the nearest double, which prints as the exact decimal. Texts without a value
 * are empty, since the interface documents no null for them.
 */

export const usdc = (micros: number): number => micros / 1e6;
export const shares = (hundredths: number): number => hundredths / 100;
export const price = (cents: number): number => cents / 100;
export const priceOrNull = (cents: number | null): number | null => (cents === null ? null : price(cents));
export const iso = isoOfMicros;
export const isoOrNull = (micros: number | null): string | null => (micros === null ? null : isoOfMicros(micros));
export const NO_TEXT = '';

/** Rounded to a millionth. */
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

const HOST = 'https://images.exchange.example';
export const eventIcon = (slug: string): string => `${HOST}/events/${slug}/icon.svg`;
export const eventImage = (slug: string): string => `${HOST}/events/${slug}/image.jpg`;
