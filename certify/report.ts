import { groupBy } from '../core/index.js';
import type { Comparison } from './comparison.js';
import type { UsedFault } from './truth.js';

/** The outcome of a run. */
export interface Certificate {
  readonly seed: number;
  readonly minutes: number;
  readonly passed: boolean;
  /** What the plan of the seed has; a fault is not applied if the exchange has no occasion for it before the end. */
  readonly planned: { readonly faults: number; readonly kills: number };
  /** The faults that were applied, and the processes that were killed; times are Unix microseconds. */
  readonly faults: readonly UsedFault[];
  readonly kills: readonly { readonly service: string; readonly at: number }[];
  readonly comparisons: readonly Comparison[];
}

/** Passed when nothing is unexplained. */
export const isPassed = (comparisons: readonly Comparison[]): boolean =>
  comparisons.every(({ unexplained }) => unexplained === 0);

const HEAD = ['compared', 'expected', 'found', 'explained', 'unexplained'] as const;

/** The table, then what explains the differences, then the first unexplained ones. */
export function reportLines({ comparisons, passed, seed, planned, faults, kills }: Certificate): string[] {
  const rows = comparisons.map(({ name, expected, found, explained, unexplained, notCompared }) => {
    if (notCompared !== undefined && expected + found === 0) return [name, 'not compared', '', '', ''];
    const sum = explained.reduce((total, { count }) => total + count, 0);
    return [name, ...[expected, found, sum, unexplained].map((count) => count.toLocaleString('en'))];
  });
  const widths = HEAD.map((head, i) => Math.max(head.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return [
    ...injectedLines(planned, faults, kills),
    line(HEAD),
    line(widths.map((width) => '─'.repeat(width))),
    ...rows.map(line),
    ...section('explained', comparisons.flatMap(explanationLines)),
    ...section(
      'not compared',
      comparisons.flatMap(({ name, notCompared: why }) => (why ? [`${name}: ${why}`] : [])),
    ),
    ...section('unexplained', comparisons.flatMap(exampleLines)),
    '',
    passed
      ? 'Certified: everything is as in the ledger of the exchange, or explained.'
      : `NOT certified: not everything is as in the ledger of the exchange. --seed ${seed} repeats the plan.`,
  ];
}

function injectedLines(
  planned: Certificate['planned'],
  faults: Certificate['faults'],
  kills: Certificate['kills'],
): string[] {
  if (planned.faults + planned.kills === 0) return [];
  const counts = (names: readonly string[]) =>
    [...groupBy(names, (name) => name)].map(([name, { length }]) => `${length} ${name}`).join(', ');
  return [
    `faults applied, ${faults.length} of ${planned.faults} planned: ${counts(faults.map(({ stream, kind }) => `${stream} ${kind}`)) || 'none'}`,
    `killed with SIGKILL, ${kills.length} of ${planned.kills} planned: ${counts(kills.map(({ service }) => service)) || 'none'}`,
    '',
  ];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];

const explanationLines = ({ name, explained, expected }: Comparison): string[] =>
  explained.map(({ by, count }) => `${name}: ${count.toLocaleString('en')} ${shareOf(count, expected)}${by}`);

/** Which share of what was expected that is; nothing where more was found than expected. */
const shareOf = (count: number, expected: number): string =>
  count > expected ? '' : `(${Number(((100 * count) / expected).toPrecision(2))} %) `;

function exampleLines({ name, examples, unexplained }: Comparison): string[] {
  const lines = examples.map((example) => `${name}: ${example}`);
  const more = unexplained - examples.length;
  return more > 0 ? [...lines, `${name}: and ${more.toLocaleString('en')} more`] : lines;
}
