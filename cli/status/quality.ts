import type { ClickHouseClient } from '@clickhouse/client';

/** The delay from the time of receipt to the row, of one topic, over the last hour. */
export interface TopicDelay {
  readonly topic: string;
  /** Number of records in the last hour. */
  readonly records: number;
  /** Age of the newest record, seconds. */
  readonly ageSeconds: number;
  /** Delay of the slowest partition, seconds: median, 99th percentile, maximum. */
  readonly p50Seconds: number;
  readonly p99Seconds: number;
  readonly maxSeconds: number;
}

/** The coverage of one stream, over all events. */
export interface StreamCoverage {
  readonly stream: string;
  readonly events: number;
  /** Open events, and how many of them are being observed. */
  readonly open: number;
  readonly live: number;
  readonly gaps: number;
  /** Seconds in which an open event was not observed, and how many of them were backfilled. */
  readonly gapSeconds: number;
  readonly backfilledSeconds: number;
  /** Fractions of the time in which the events were open, 0 to 1; their sum is 1. */
  readonly observed: number;
  readonly backfilled: number;
  readonly missing: number;
}

/** The audits of a stream within the last hour, and the changes that were lost without any audit noticing. */
export interface StreamAudits {
  readonly stream: string;
  /** Number of audits, each of all markets of one event. */
  readonly audits: number;
  /** Number of markets that were not equal to the exchange's. */
  readonly mismatches: number;
  /** Time since the previous audit of the same event with equal prices, seconds: median, maximum. */
  readonly intervalP50Seconds: number;
  readonly intervalMaxSeconds: number;
  /** The latest row of `feed_loss_estimate`; null when no market has changed between audits. */
  readonly loss: {
    /** Start of its hour, ISO 8601. */
    readonly from: string;
    /** Number of sampled changes, and of those of them that were not received. */
    readonly samples: number;
    readonly lostSamples: number;
    /** Fraction of the changes that were lost, with 95 % bounds, 0 to 1. */
    readonly rate: number;
    readonly lower: number;
    readonly upper: number;
    /** Estimated number of lost changes; null when it is unbounded. */
    readonly estimatedLost: number | null;
  } | null;
}

export interface Quality {
  /** Seconds of the last hour in which a collector ran; of several at the same time, the longest. */
  readonly recordedSeconds: number;
  readonly delays: readonly TopicDelay[];
  readonly coverage: readonly StreamCoverage[];
  readonly audits: readonly StreamAudits[];
  /** Number of dead letters for the most frequent reasons. */
  readonly deadLetters: readonly { readonly reason: string; readonly count: number }[];
  /** Number of other reasons, and of their dead letters. */
  readonly otherDeadLetters: { readonly reasons: number; readonly count: number };
}

const DELAYS = `
  SELECT topic, toFloat64(sum(lag.records)) AS records, min(age_seconds) AS ageSeconds, max(delay_p50_seconds) AS p50Seconds,
    max(delay_p99_seconds) AS p99Seconds, max(delay_max_seconds) AS maxSeconds
  FROM {database:Identifier}.pipeline_lag AS lag
  GROUP BY topic
  ORDER BY topic`;

const COVERAGE = `
  SELECT stream, toFloat64(count()) AS events, toFloat64(countIf(c.open)) AS open,
    toFloat64(countIf(c.open AND c.live)) AS live, toFloat64(sum(c.gaps)) AS gaps,
    sum(gap_seconds) AS gapSeconds, sum(backfilled_seconds) AS backfilledSeconds,
    if(sum(open_seconds) > 0, 1 - gapSeconds / sum(open_seconds), 1) AS observed,
    if(sum(open_seconds) > 0, backfilledSeconds / sum(open_seconds), 0) AS backfilled,
    1 - observed - backfilled AS missing
  FROM {database:Identifier}.coverage_by_event AS c
  GROUP BY stream
  ORDER BY stream`;

const RECORDED = `
  SELECT ifNull(max(seconds), 0) AS seconds
  FROM
  (
    SELECT sum(greatest(0, dateDiff('millisecond', greatest(started_at, now64(6, 'UTC') - toIntervalHour(1)), last_heartbeat_at))) / 1000 AS seconds
    FROM {database:Identifier}.sessions
    GROUP BY collector, shard
  )`;

const AUDITS = `
  SELECT stream, toFloat64(count()) AS audits, toFloat64(sum(a.mismatches)) AS mismatches,
    quantile(0.5)(dateDiff('microsecond', last_equal_at, audited_at)) / 1e6 AS intervalP50Seconds,
    max(dateDiff('microsecond', last_equal_at, audited_at)) / 1e6 AS intervalMaxSeconds
  FROM {database:Identifier}.audits AS a
  WHERE audited_at >= now64(6, 'UTC') - toIntervalHour(1)
  GROUP BY stream
  ORDER BY stream`;

const LOSSES = `
  SELECT stream, formatDateTime(begins_at, '%FT%TZ', 'UTC') AS from, toFloat64(e.samples) AS samples,
    toFloat64(lost_samples) AS lostSamples, rate, lower, upper, estimated_lost AS estimatedLost
  FROM {database:Identifier}.feed_loss_estimate AS e
  WHERE begins_at >= now() - toIntervalHour(2)
  ORDER BY begins_at DESC
  LIMIT 1 BY stream`;

const DEAD_LETTERS = `
  SELECT reason, toFloat64(count()) AS count, toFloat64(count() OVER ()) AS reasons, toFloat64(sum(count()) OVER ()) AS letters
  FROM {database:Identifier}.dead_letters
  GROUP BY reason
  ORDER BY count DESC, reason
  LIMIT 20`;

/** Delays, coverage, audits and dead letters of an instance. */
export async function qualityOf(client: ClickHouseClient, database: string): Promise<Quality> {
  const rows = async <Row>(query: string) => {
    const answer = await client.query({ query, query_params: { database }, format: 'JSONEachRow' });
    return answer.json<Row>();
  };
  const [recorded, delays, coverage, audits, losses, deadLetters] = await Promise.all([
    rows<{ seconds: number }>(RECORDED),
    rows<TopicDelay>(DELAYS),
    rows<StreamCoverage>(COVERAGE),
    rows<Omit<StreamAudits, 'loss'>>(AUDITS),
    rows<NonNullable<StreamAudits['loss']> & { stream: string }>(LOSSES),
    rows<{ reason: string; count: number; reasons: number; letters: number }>(DEAD_LETTERS),
  ]);
  const listed = deadLetters.map(({ reason, count }) => ({ reason, count }));
  const { reasons, letters } = deadLetters[0] ?? { reasons: 0, letters: 0 };
  const otherDeadLetters = {
    reasons: reasons - listed.length,
    count: letters - listed.reduce((sum, { count }) => sum + count, 0),
  };
  const lossOf = (stream: string) => {
    const { stream: _, ...loss } = losses.find((row) => row.stream === stream) ?? { stream };
    return 'rate' in loss ? loss : null;
  };
  const audited = audits.map((row) => ({ ...row, loss: lossOf(row.stream) }));
  const recordedSeconds = recorded[0]?.seconds ?? 0;
  return { recordedSeconds, delays, coverage, audits: audited, deadLetters: listed, otherDeadLetters };
}
