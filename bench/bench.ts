/** One measured value. */
export interface BenchFigure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Which values are better, for `compare`. Default: higher for rates (`…/s`) and ratios (`times`), else lower. */
  readonly better?: 'higher' | 'lower' | 'neither';
}

/** A benchmark that `npm run bench` runs; every run has its own process. */
export interface Bench {
  readonly name: string;
  /** What is measured, in one line. */
  readonly about: string;
  /** What a reader needs to judge the figures: raw bodies stored or not, fsync on or off, sizes. */
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** Why it cannot run on this machine; undefined when it can. */
  unavailable?(): string | undefined;
  /** @param quick a short run that shows that the benchmark works, not how fast the code is */
  run(quick: boolean): Promise<BenchFigure[]>;
}
