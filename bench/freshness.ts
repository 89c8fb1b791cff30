import type { ClickHouseClient } from '@clickhouse/client';
import { systemClock } from '../core/index.js';

/** The visible rows of one partition at one moment: those received up to `frontier`. */
interface Sample {
  /** Time at which the query returned, Unix microseconds. */
  readonly at: number;
  readonly frontier: number;
}

/** When order book deltas become visible to queries: `sample` is called in short intervals, and `latencies` at the end. */
export class Freshness {
  readonly #samples = new Map<number, Sample[]>();

  /** @param since of receipt, Unix microseconds */
  constructor(
    private readonly client: Pick<ClickHouseClient, 'query'>,
    readonly since: number,
  ) {}

  /** Finds out which records of each partition are visible. */
  async sample(): Promise<void> {
    const answer = await this.client.query({
      query: `
        SELECT _partition AS partition, toUnixTimestamp64Micro(max(received_at)) AS frontier
        FROM price_ticks
        WHERE source = 'delta' AND received_at >= fromUnixTimestamp64Micro({since:Int64})
        GROUP BY _partition`,
      query_params: { since: Math.max(this.since, systemClock.nowMicros() - 20e6) },
      format: 'JSONEachRow',
    });
    const rows = await answer.json<{ partition: number; frontier: number | string }>();
    const at = systemClock.nowMicros();
    for (const { partition, frontier } of rows) {
      const list = this.#samples.get(partition) ?? [];
      this.#samples.set(partition, list);
      list.push({ at, frontier: Number(frontier) });
    }
  }

  /** Latency of each recorded delta, milliseconds: from its receipt to the first sample in which it was visible. */
  async latencies(): Promise<number[]> {
    const answer = await this.client.query({
      query: `
        SELECT _partition, toUnixTimestamp64Micro(received_at)
        FROM price_ticks
        WHERE source = 'delta' AND received_at >= fromUnixTimestamp64Micro({since:Int64})
        ORDER BY _partition, received_at`,
      query_params: { since: this.since },
      format: 'JSONCompactEachRow',
    });
    const rows = await answer.json<[number, number | string]>();
    const latencies: number[] = [];
    let partition = -1;
    let list: readonly Sample[] = [];
    let next = 0;
    for (const [of, receivedAt] of rows) {
      if (of !== partition) {
        partition = of;
        list = this.#samples.get(of) ?? [];
        next = 0;
      }
      while (next < list.length && (list[next]?.frontier ?? 0) < Number(receivedAt)) next += 1;
      const seen = list[next];
      if (!seen) throw new Error(`a row of partition ${of} never became visible`);
      latencies.push((seen.at - Number(receivedAt)) / 1000);
    }
    return latencies;
  }
}
