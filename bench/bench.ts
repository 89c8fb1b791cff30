/** One measured value. */
export interface BenchFigure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** A benchmark that `npm run bench` runs; every run has a process of its own. */
export interface Bench {
  readonly name: string;
  /** What is measured, in one line. */
  readonly about: string;
  /** What a reader must know to judge the figures: raw bodies kept or not, fsync on or off, sizes. */
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** Why it cannot run on this machine; undefined when it can. */
  unavailable?(): string | undefined;
  /** @param quick a short run that shows that it works, not how fast it is */
  run(quick: boolean): Promise<BenchFigure[]>;
}
