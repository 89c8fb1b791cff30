import type { ClickHouseClient } from '@clickhouse/client';

/** How late the records of one topic became rows, over the last hour. */
export interface TopicDelay {
  readonly topic: string;
  /** Records of the last hour. */
  readonly records: number;
  /** Age of the newest one, seconds. */
  readonly ageSeconds: number;
  /** From receipt to row, seconds: the slowest partition's median, 99th percentile and longest. */
  readonly p50Seconds: number;
  readonly p99Seconds: number;
  readonly maxSeconds: number;
}

/** How much of what happened was seen, over all events of one stream. */
export interface StreamCoverage {
  readonly stream: string;
  readonly events: number;
  /** Events that are open, and of these those that are being watched. */
  readonly open: number;
  readonly live: number;
  readonly gaps: number;
  /** Seconds in which an open event was not watched, and how many of them were fetched later. */
  readonly gapSeconds: number;
  readonly backfilledSeconds: number;
  /** Fractions of the time that the events were open, 0 to 1; together 1. */
  readonly observed: number;
  readonly backfilled: number;
  readonly missing: number;
}

export interface Quality {
  readonly delays: readonly TopicDelay[];
  readonly coverage: readonly StreamCoverage[];
  /** Payloads that could not be understood, by reason: the most frequent reasons. */
  readonly deadLetters: readonly { readonly reason: string; readonly count: number }[];
  /** What the reasons that are not listed come to. */
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

const DEAD_LETTERS = `
  SELECT reason, toFloat64(count()) AS count, toFloat64(count() OVER ()) AS reasons, toFloat64(sum(count()) OVER ()) AS letters
  FROM {database:Identifier}.dead_letters
  GROUP BY reason
  ORDER BY count DESC, reason
  LIMIT 20`;

/** Delays, coverage and dead letters of an instance. */
export async function qualityOf(client: ClickHouseClient, database: string): Promise<Quality> {
  const rows = async <Row>(query: string) => {
    const answer = await client.query({ query, query_params: { database }, format: 'JSONEachRow' });
    return answer.json<Row>();
  };
  const [delays, coverage, deadLetters] = await Promise.all([
    rows<TopicDelay>(DELAYS),
    rows<StreamCoverage>(COVERAGE),
    rows<{ reason: string; count: number; reasons: number; letters: number }>(DEAD_LETTERS),
  ]);
  const listed = deadLetters.map(({ reason, count }) => ({ reason, count }));
  const { reasons, letters } = deadLetters[0] ?? { reasons: 0, letters: 0 };
  const otherDeadLetters = {
    reasons: reasons - listed.length,
    count: letters - listed.reduce((sum, { count }) => sum + count, 0),
  };
  return { delays, coverage, deadLetters: listed, otherDeadLetters };
}
