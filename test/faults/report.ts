import { quantile } from '../../bench/quantile.js';
import { groupBy } from '../../core/index.js';
import type { Gap, LostRow, SurplusRow } from './accounting.js';
import type { Kind } from './kind.js';
import type { FaultsResult, Occurrence } from './run.js';

/** A row of the matrix. */
export interface KindReport {
  readonly kind: string;
  readonly expected: Kind['expected'];
  readonly occurrences: number;
  readonly detected: number;
  /** Seconds until a query showed the fault. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** Changes of the exchange without a row of their own. */
  readonly lost: number;
  readonly duplicated: number;
  readonly backfilled: number;
  /** Lost rows that are in a gap, as a dead letter, in the estimate, or nowhere. */
  readonly inGap: number;
  readonly deadLetters: number;
  readonly estimated: number;
  readonly unexplained: number;
  /** How many of the events `coverage` called live a second later, of those not detected by then. */
  readonly liveMeanwhile: string;
  /** Causes of the gaps of these faults, with their number. */
  readonly gaps: string;
  /** Why it was not caused. */
  readonly unavailable?: string;
}

export interface FaultsReport {
  readonly seed: number;
  readonly seconds: number;
  readonly changes: number;
  readonly kinds: readonly KindReport[];
  /** Most changes that `feed_loss_estimate` says may have been lost unnoticed. */
  readonly maxUnnoticed: number;
  /** Lost and duplicated rows that belong to no fault. */
  readonly failures: readonly string[];
}

/**
 * Changes this long before a fault may be its consequence. The exchange times a change before it writes it to disk, and a fault
 * when the change is sent; what a collector received last before a kill was not yet durable.
 */
const BEFORE_MICROS = { stream: 500_000, process: 3_000_000 };
/** And this long after rows arrived again. */
const AFTER_MICROS = 5_000_000;

export function reportOf(result: FaultsResult, kinds: readonly Kind[], seed: number): FaultsReport {
  const { occurrences, accounts, unavailable, seconds } = result;
  const lost = groupBy(accounts.lost, (row) => faultOf(row, occurrences)?.kind);
  const surplus = groupBy(accounts.surplus, (row) => faultOf(row, occurrences)?.kind);
  const reports = kinds.map((kind): KindReport => {
    const own = occurrences.filter((each) => each.kind === kind.name);
    const reason = unavailable.get(kind.name);
    return {
      ...kindReport(kind, own, lost.get(kind.name) ?? [], surplus.get(kind.name) ?? [], accounts.gaps),
      ...(reason === undefined ? {} : { unavailable: reason }),
    };
  });
  const failures = [
    ...reports.flatMap(failuresOf),
    ...describe('lost without a fault', (lost.get(undefined) ?? []).filter(isUnexplained)),
    ...describe('duplicated without a fault', surplus.get(undefined) ?? []),
    ...describe('lost and unexplained', accounts.lost.filter(isUnexplained)),
    ...reports.flatMap(({ kind }) => describe(`duplicated by "${kind}"`, surplus.get(kind) ?? [])),
  ];
  const unnoticed = accounts.lost.filter(({ explanation }) => explanation === 'estimate').length;
  if (unnoticed > accounts.maxUnnoticed) {
    failures.push(
      `${unnoticed} changes were lost unnoticed; the estimate is at most ${accounts.maxUnnoticed.toFixed(1)}`,
    );
  }
  return { seed, seconds, changes: accounts.changes, kinds: reports, maxUnnoticed: accounts.maxUnnoticed, failures };
}

const isUnexplained = ({ explanation }: LostRow): boolean => explanation === 'none';

/**
 * The fault that a row is a consequence of, of those that concerned its event: the last one that was there at that time, else
 * the first one after it, else the last one that was over.
 */
function faultOf({ stream, eventId, at }: SurplusRow, occurrences: readonly Occurrence[]): Occurrence | undefined {
  const begin = (each: Occurrence) => each.at - (each.events ? BEFORE_MICROS.stream : BEFORE_MICROS.process);
  const near = occurrences
    .filter(
      (each) =>
        (each.stream === undefined || each.stream === stream) &&
        (each.events?.some((event) => event.eventId === eventId) ?? true) &&
        at >= begin(each) &&
        at <= each.recoveredAt + AFTER_MICROS,
    )
    .sort((a, b) => b.at - a.at);
  const during = near.find((each) => each.at <= at && at <= each.recoveredAt);
  return during ?? near.findLast((each) => each.at > at) ?? near[0];
}

function kindReport(
  { name, expected, stream }: Kind,
  occurrences: readonly Occurrence[],
  lost: readonly LostRow[],
  surplus: readonly SurplusRow[],
  gaps: readonly Gap[],
): KindReport {
  const times = occurrences.flatMap(({ at, detectedAt }) =>
    detectedAt === undefined ? [] : [(detectedAt - at) / 1e6],
  );
  const timed = expected === 'detected' && times.length > 0;
  const of = (explanation: LostRow['explanation']) => lost.filter((row) => row.explanation === explanation).length;
  const asked = occurrences.filter(({ liveMeanwhile }) => liveMeanwhile !== undefined);
  const causes = occurrences.flatMap((each) => causesOf(each, stream, gaps));
  return {
    kind: name,
    expected,
    occurrences: occurrences.length,
    detected: times.length,
    p50: timed ? quantile(times, 0.5) : null,
    p99: timed ? quantile(times, 0.99) : null,
    lost: lost.length,
    duplicated: surplus.length,
    backfilled: of('backfilled'),
    inGap: of('gap'),
    deadLetters: of('dead letter'),
    estimated: of('estimate'),
    unexplained: of('none'),
    liveMeanwhile: asked.length === 0 ? '' : `${asked.filter((each) => each.liveMeanwhile).length} of ${asked.length}`,
    gaps: [...groupBy(causes, (cause) => cause)].map(([cause, each]) => `${cause} (${each.length})`).join(', '),
  };
}

/** The causes of the gaps that a fault left, each once. */
function causesOf(occurrence: Occurrence, stream: string | undefined, gaps: readonly Gap[]): string[] {
  const { at, endedAt, events } = occurrence;
  const own = gaps.filter(
    (gap) =>
      (stream === undefined || gap.stream === stream) &&
      (events?.some(({ eventId }) => eventId === gap.event) ?? true) &&
      gap.begins <= endedAt &&
      gap.ends >= at,
  );
  return [...new Set(own.map(({ cause }) => shortened(cause)))];
}

/** Without IDs, addresses and durations. */
const shortened = (cause: string): string => cause.replace(/ of event .*| for \d+ ms.*/, '');

function failuresOf(report: KindReport): string[] {
  const { kind, expected, occurrences, detected } = report;
  if (expected !== 'detected' || detected === occurrences) return [];
  return [`${kind}: ${occurrences - detected} of ${occurrences} were not detected`];
}

const MAX_LISTED = 10;

function describe(what: string, rows: readonly SurplusRow[]): string[] {
  return rows
    .slice(0, MAX_LISTED)
    .map(
      ({ stream, eventId, at, text }) => `${what}: ${stream} ${eventId} ${new Date(at / 1000).toISOString()} ${text}`,
    );
}

const COLUMNS: readonly [string, (report: KindReport) => string | number][] = [
  ['fault', ({ kind }) => kind],
  ['times', ({ occurrences }) => occurrences],
  ['detected', ({ expected, detected }) => (expected === 'unchecked' ? '–' : detected)],
  ['p50 s', ({ p50 }) => seconds(p50)],
  ['p99 s', ({ p99 }) => seconds(p99)],
  ['lost', ({ lost }) => lost],
  ['duplicated', ({ duplicated }) => duplicated],
  ['backfilled', ({ backfilled }) => backfilled],
  ['in a gap', ({ inGap }) => inGap],
  ['dead letter', ({ deadLetters }) => deadLetters],
  ['in the estimate', ({ estimated }) => estimated],
  ['live meanwhile', ({ liveMeanwhile }) => liveMeanwhile || '–'],
  [
    'gaps, by cause',
    ({ gaps, unavailable }) => (unavailable === undefined ? gaps || 'none' : `not caused: ${unavailable}`),
  ],
];

const seconds = (value: number | null): string => (value === null ? '–' : value.toFixed(1));

/** The matrix as a Markdown table. */
export function renderMatrix({ kinds }: FaultsReport): string {
  const cells = [
    COLUMNS.map(([title]) => title),
    ...kinds.map((report) => COLUMNS.map(([, of]) => String(of(report)))),
  ];
  const widths = COLUMNS.map((_, n) => Math.max(...cells.map((row) => row[n]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`;
  const [head = [], ...rows] = cells;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
