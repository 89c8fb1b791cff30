import { encodeBody } from '../core/index.js';
import type { BenchFigure } from './bench.js';

const FRAME_BYTES = 15 * 1024 * 1024;
/** As many of each as the bound lets pass. */
const AT_BOUND: readonly (readonly [name: string, marksEach: number, item: (n: number) => string])[] = [
  ['points of chance history', 5, (n) => `{"t":${1_763_690_000 + n},"p":0.531}`],
  [
    'order book entries',
    9,
    (n) => `{"o":"5c0f3c9e-7e7b-4d6e-9d0a-${String(n).padStart(12, '0')}","c":0.5,"b":0.4,"a":0.6}`,
  ],
  ['empty objects', 2, () => '{}'],
  ['different texts', 1, (n) => `"${n.toString(36)}"`],
  ['objects with one name of their own', 3, (n) => `{"${n.toString(36)}":1}`],
  ['objects with eight names of their own', 18, (n) => objectOf(n * 8, 8)],
];
const BEYOND: readonly (readonly [name: string, item: string])[] = [
  ['empty objects', '{}'],
  ['numbers', '1'],
];
const MARKS = 599_000;

/** What the largest and the most awkward frames cost on arrival: one frame each, so the first time counts. */
export async function benchLargeFrames(): Promise<BenchFigure[]> {
  const figures: BenchFigure[] = [];
  for (const [name, marksEach, item] of AT_BOUND) {
    const count = Math.floor(MARKS / marksEach);
    const text = `[${Array.from({ length: count }, (_, n) => item(n)).join()}]`;
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
  if (body.enc !== enc) throw new Error(`it ${body.excess ?? 'was parsed'}, which was not expected`);
  return Math.round(ms);
}

function objectOf(first: number, names: number): string {
  return `{${Array.from({ length: names }, (_, k) => `"k${(first + k).toString(36)}":1`).join()}}`;
}
