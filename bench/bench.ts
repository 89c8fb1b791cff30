/** One measured value. */
export interface BenchFigure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Which values are better, for `compare`. Default: higher for rates (`…/s`) and ratios (`times`), else lower. */
  readonly better?: 'higher' | 'lower' | 'neither';
}

/** A benchmark of `npm run bench`; every run has its own process. */
export interface Bench {
  readonly name: string;
  /** One line about what is measured. */
  readonly about: string;
  /** Number of runs of a measurement; 5 unless given. */
  readonly runs?: number;
  /** Why it cannot run on this machine; undefined when it can. */
  unavailable?(): string | undefined;
  /** Imports its modules: a process that runs one benchmark does not have the memory of the others. */
  load(): Promise<LoadedBench>;
}

export interface LoadedBench {
  /** Settings that affect the figures: raw bodies stored or not, fsync on or off, sizes. */
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** @param quick a short run that checks the benchmark itself and does not measure */
  run(quick: boolean): Promise<BenchFigure[]>;
}
