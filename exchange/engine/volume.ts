const BUCKET_MICROS = 300 * 1_000_000;
const BUCKETS_PER_DAY = 288;

/** Total volume and volume of the last 24 hours (in steps of five minutes), micros. */
export class DayVolume {
  total = 0;
  /** Number of a five-minute period and its volume, oldest first. */
  buckets: [period: number, volume: number][] = [];

  add(micros: number, at: number): void {
    this.total += micros;
    const period = Math.floor(at / BUCKET_MICROS);
    const last = this.buckets.at(-1);
    if (last?.[0] === period) {
      last[1] += micros;
      return;
    }
    this.buckets.push([period, micros]);
    while ((this.buckets[0]?.[0] ?? period) <= period - BUCKETS_PER_DAY) this.buckets.shift();
  }

  lastDay(now: number): number {
    const oldest = Math.floor(now / BUCKET_MICROS) - BUCKETS_PER_DAY;
    let sum = 0;
    for (const [period, volume] of this.buckets) if (period > oldest) sum += volume;
    return sum;
  }
}
