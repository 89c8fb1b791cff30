import { encodeBody } from '../core/index.js';
import type { BenchFigure } from './bench.js';

/** Texts up to this size are parsed without checking the limits. */
const CHECKED_BYTES = 256 * 1024;
const FRAME_BYTES = 15 * 1024 * 1024;
/** A little below the limits of core/json-bytes.ts. */
const TOKENS = 319_000;
const KEYS = 24_800;
/** The maximum number of each within the limits; objects with distinct keys are limited by the number of keys. */
const AT_BOUND: readonly (readonly [name: string, count: number, item: (n: number) => string])[] = [
  ['points of chance history', TOKENS / 5, (n) => `{"t":${1_763_690_000 + n},"p":0.531}`],
  [
    'order book entries',
    TOKENS / 9,
    (n) => `{"o":"5c0f3c9e-7e7b-4d6e-9d0a-${String(n).padStart(12, '0')}","c":0.5,"b":0.4,"a":0.6}`,
  ],
  ['empty objects', TOKENS / 2, () => '{}'],
  ['long numbers', TOKENS, (n) => String(n * 1e9 + 0.5)],
  ['distinct long texts', TOKENS, (n) => `"a longer text ${n.toString(36)}"`],
  ['distinct short texts', KEYS, (n) => `"${n.toString(36)}"`],
  ['objects with one distinct key', KEYS, (n) => `{"${n.toString(36)}":1}`],
  ['objects with eight distinct keys', KEYS / 8, (n) => objectOf(n * 8, 8)],
  ['objects with a hundred distinct keys', KEYS / 100, (n) => objectOf(n * 100, 100)],
  [
    'objects with eight distinct keys, each with 96 long texts',
    Math.min(KEYS / 8, TOKENS / 115),
    (n) => `${objectOf(n * 8, 8)},${Array.from({ length: 96 }, (_, k) => `"a longer text ${n * 96 + k}"`).join()}`,
  ],
];
const BEYOND: readonly (readonly [name: string, item: string])[] = [
  ['empty objects', '{}'],
  ['numbers', '1'],
];

/** The processing time of the largest frames on receipt: one frame of each kind, without warm-up. */
export async function benchLargeFrames(): Promise<BenchFigure[]> {
  const figures: BenchFigure[] = [];
  for (const [name, max, item] of AT_BOUND) {
    const count = Math.floor(max);
    // Padded with spaces, since small texts are not checked.
    const text = `[${Array.from({ length: count }, (_, n) => item(n)).join()}]${' '.repeat(CHECKED_BYTES)}`;
    figures.push({ name: `${count} ${name}, parsed`, value: measure(Buffer.from(text), undefined), unit: 'ms' });
  }
  for (const [name, item] of BEYOND) {
    const text = `[${Array.from({ length: Math.floor(FRAME_BYTES / (item.length + 1)) }, () => item).join()}]`;
    figures.push({ name: `15 MB of ${name}, refused`, value: measure(Buffer.from(text), 'text'), unit: 'ms' });
  }
  return figures;
}

function measure(received: Buffer, enc: 'text' | undefined): number {
  const start = performance.now();
  const body = encodeBody(received);
  const ms = performance.now() - start;
  if (body.encoding !== enc) throw new Error(`it ${body.excess ?? 'was parsed'}, which was not expected`);
  return Math.round(ms);
}

function objectOf(first: number, names: number): string {
  return `{${Array.from({ length: names }, (_, k) => `"k${(first + k).toString(36)}":1`).join()}}`;
}
