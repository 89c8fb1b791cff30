import { printable } from '../../core/index.js';
import { columns, formatBytes, formatCount, formatDaysLeft, formatSeconds } from '../format.js';
import type { PartitionLag } from './lag.js';
import type { Quality } from './quality.js';
import type { StatusReport } from './report.js';
import type { ServiceStatus } from './services.js';

/** Renders the report as lines of text. */
export function renderStatus(report: StatusReport): string[] {
  // Before the first migration there is no quality report, which is not a problem.
  const qualityKnown = report.quality !== null || report.tables?.some(({ name }) => name === 'applied_sql') === false;
  return [
    `data folder  ${report.dataFolder}`,
    '',
    ...section('services', serviceRows(report), 'none running; `chancery up` starts all of them'),
    ...section('bus', busRows(report.bus), ifKnown(report.bus !== null, 'nothing recorded yet')),
    ...section('tables', tableRows(report), ifKnown(report.tables !== null, 'none yet')),
    ...section('coverage', coverageRows(report.quality), ifKnown(qualityKnown, 'nothing observed yet')),
    ...section('audits, last hour', auditRows(report.quality), ifKnown(qualityKnown, 'none yet')),
    ...section(
      'latency from time of receipt to row, last hour',
      delayRows(report.quality),
      ifKnown(qualityKnown, 'no records'),
    ),
    ...section('dead letters', deadLetterRows(report.quality), ifKnown(qualityKnown, 'none')),
    ...confinementLine(report),
    diskLine(report),
    ...report.problems.map((problem) => `problem      ${problem}`),
  ].map(printable);
}

/** The text for an empty list, or for one that could not be read. */
function ifKnown(known: boolean, nothing: string): string {
  return known ? nothing : 'unknown: see the problem below';
}

function section(title: string, rows: readonly string[], otherwise: string): string[] {
  return [title, ...(rows.length > 0 ? rows : [otherwise]).map((row) => `  ${row}`), ''];
}

function serviceRows({ services, reportedAt }: StatusReport): string[] {
  return columns(services.map((service) => serviceRow(service, Date.parse(reportedAt))));
}

function serviceRow(
  { service, pid, startedAt, address, health, healthy, detail }: ServiceStatus,
  now: number,
): string[] {
  const cause = detail['cause'];
  return [
    service,
    healthy ? 'healthy' : 'UNHEALTHY',
    `for ${formatSeconds(Math.max(0, now - Date.parse(startedAt)) / 1000)}`,
    `process ${pid}`,
    address ?? health ?? '',
    healthy || typeof cause !== 'string' ? '' : cause,
  ];
}

/** One line per topic: the sum of its partitions. */
function busRows(bus: readonly PartitionLag[] | null): string[] {
  const topics = new Map<string, { partitions: number; records: number; lag: number }>();
  for (const { topic, begin, end, lag } of bus ?? []) {
    const sum = topics.get(topic) ?? { partitions: 0, records: 0, lag: 0 };
    sum.partitions += 1;
    sum.records += end - begin;
    sum.lag += lag;
    topics.set(topic, sum);
  }
  if (topics.size === 0) return [];
  const rows = [...topics].map(([topic, { partitions, records, lag }]) => [
    topic,
    formatCount(partitions),
    formatCount(records),
    formatCount(lag),
  ]);
  return columns([['topic', 'partitions', 'records', 'lag'], ...rows], [1, 2, 3]);
}

function tableRows({ tables }: StatusReport): string[] {
  const filled = (tables ?? []).filter(({ rows: count }) => count > 0);
  if (filled.length === 0) return [];
  const rows = filled.map(({ name, rows: count, bytes, merges }) => [
    name,
    formatCount(count),
    formatBytes(bytes),
    merges ? 'one row per key' : '',
  ]);
  const empty = (tables?.length ?? 0) - filled.length;
  return [
    ...columns([['table', 'rows', 'on disk'], ...rows], [1, 2]),
    ...(empty > 0 ? [`and ${formatCount(empty)} empty ${empty === 1 ? 'table' : 'tables'}`] : []),
  ];
}

function coverageRows(quality: Quality | null): string[] {
  if (!quality || quality.coverage.length === 0) return [];
  const rows = quality.coverage.map((c) => [
    c.stream,
    c.open > 0 ? `${formatCount(c.live)} of ${formatCount(c.open)}` : '–',
    percent(c.observed),
    percent(c.backfilled),
    percent(c.missing, Math.ceil),
    formatCount(c.gaps),
  ]);
  const head = ['stream', 'open events observed', 'observed', 'backfilled', 'missing', 'gaps'];
  return columns([head, ...rows], [1, 2, 3, 4, 5]);
}

function auditRows(quality: Quality | null): string[] {
  if (!quality || quality.audits.length === 0) return [];
  const rows = quality.audits.map(({ stream, audits, mismatches, intervalP50Seconds, intervalMaxSeconds, loss }) => [
    stream,
    formatCount(audits),
    formatSeconds(intervalP50Seconds),
    formatSeconds(intervalMaxSeconds),
    formatCount(mismatches),
    loss === null ? '–' : percent(loss.rate, Math.round),
    loss === null ? '–' : `${percent(loss.lower)} to ${percent(loss.upper, Math.ceil)}`,
  ]);
  const head = ['stream', 'audits', 'interval p50', 'max', 'unequal markets', 'lost changes, estimated', '95 % bounds'];
  return columns([head, ...rows], [1, 2, 3, 4, 5, 6]);
}

function delayRows(quality: Quality | null): string[] {
  if (!quality || quality.delays.length === 0) return [];
  const rows = quality.delays.map((d) => [
    d.topic,
    formatCount(d.records),
    formatSeconds(d.ageSeconds),
    formatSeconds(d.p50Seconds),
    formatSeconds(d.p99Seconds),
    formatSeconds(d.maxSeconds),
  ]);
  return columns([['topic', 'records', 'newest', 'p50', 'p99', 'max'], ...rows], [1, 2, 3, 4, 5]);
}

function deadLetterRows(quality: Quality | null): string[] {
  if (!quality) return [];
  const { deadLetters, otherDeadLetters: others } = quality;
  const all = deadLetters.reduce((sum, { count }) => sum + count, others.count);
  if (all === 0) return [];
  const rest = others.reasons === 1 ? '… and 1 other reason' : `… and ${formatCount(others.reasons)} other reasons`;
  return columns(
    [
      [formatCount(all), 'total'],
      ...deadLetters.map(({ reason, count }) => [formatCount(count), reason]),
      ...(others.reasons > 0 ? [[formatCount(others.count), rest]] : []),
    ],
    [0],
  );
}

/** Rounded down (observed) or up (missing), so that 100 % means complete. */
function percent(fraction: number, round: (value: number) => number = Math.floor): string {
  return `${(round(Number((fraction * 10_000).toFixed(6))) / 100).toFixed(2)} %`;
}

/** Nothing for a server that is not embedded. */
function confinementLine({ clickhouse }: StatusReport): string[] {
  const unconfined = clickhouse?.unconfined;
  if (unconfined === undefined) return [];
  return unconfined === null
    ? ['ClickHouse   confined to its own files']
    : [`ClickHouse   not confined (${unconfined}): its users can read this operating system user's files`];
}

function diskLine({ disk, diskDaysLeft }: StatusReport): string {
  const { bus, clickhouse, exchange, free } = disk;
  return `disk         bus ${formatBytes(bus)}, ClickHouse ${formatBytes(clickhouse)}, exchange ${formatBytes(exchange)}, ${formatBytes(free)} free${typeof diskDaysLeft === 'number' ? `, ${formatDaysLeft(diskDaysLeft)}` : ''}`;
}
