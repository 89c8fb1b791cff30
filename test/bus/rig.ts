import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Bus, ConsumerHandler, Partition, RecordBatch } from '../../bus/index.js';

/** What the contract suite needs from an implementation. */
export interface BusRig {
  /** Another handle on the same bus; the rig closes it. */
  open(options?: { maxRecordBytes?: number }): Promise<Bus>;
  /** Deletes all records of a partition, as retention would. */
  expire(topic: string): Promise<void>;
  /** First argument of the child processes: how to open the same bus. */
  readonly childArgument: string;
  /** Time until another consumer owns the partitions of a killed one, milliseconds. */
  readonly takeoverMs: number;
  /** Closes all handles and removes everything. */
  close(): Promise<void>;
}

export interface Child {
  readonly process: ChildProcess;
  readonly lines: string[];
  /** Resolves with the first matching line, also an earlier one. */
  line(fits: (line: string) => boolean): Promise<string>;
  kill(): Promise<void>;
}

/** Runs one of `children/` on the compiled code. */
export function runChild(script: string, ...args: string[]): Child {
  const path = fileURLToPath(new URL(`children/${script}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const watch of watchers) watch();
  });
  return {
    process: child,
    lines,
    line: (fits) =>
      new Promise((resolve, reject) => {
        const watch = () => {
          const found = lines.find(fits);
          if (found === undefined) return;
          watchers.delete(watch);
          resolve(found);
        };
        watchers.add(watch);
        watch();
        void ended.then(() => reject(new Error(`${script} ended before it said what was waited for`)));
      }),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The values of a batch as text. */
export function texts(batch: RecordBatch): string[] {
  return Array.from({ length: batch.count }, (_, i) =>
    batch.bytes.toString('utf8', batch.bounds[2 * i], batch.bounds[2 * i + 1]),
  );
}

/** Bytes of all values of a batch. */
export function sizeOf({ count, bounds }: RecordBatch): number {
  let size = 0;
  for (let i = 0; i < 2 * count; i += 2) size += (bounds[i + 1] ?? 0) - (bounds[i] ?? 0);
  return size;
}

export async function readAll(bus: Bus, topic: string): Promise<string[][]> {
  const all: string[][] = [];
  for (const { partition, begin, end } of (await bus.partitions()).filter((p) => p.topic === topic)) {
    const values: string[] = [];
    if (end > begin) for await (const batch of bus.read(topic, partition, begin, end - 1)) values.push(...texts(batch));
    all[partition] = values;
  }
  return all;
}

/** A consumer that records what it receives; `until` resolves when a condition on it holds. */
export class Recorder implements ConsumerHandler {
  readonly values: string[] = [];
  readonly batches: { partition: number; batch: RecordBatch; behind: number }[] = [];
  readonly assigned = new Map<number, Partition>();
  readonly events: string[] = [];
  readonly #conditions = new Set<() => void>();

  constructor(private readonly options: { commit?: boolean; name?: string; log?: string[] } = {}) {}

  async onAssigned(partition: Partition): Promise<number> {
    this.assigned.set(partition.partition, partition);
    this.#note(`assigned ${partition.partition}`);
    return (await partition.committed()).offset;
  }

  async onBatch(partition: Partition, given: RecordBatch, behind: number): Promise<void> {
    // The batch is valid only until this resolves.
    const batch = { ...given, bytes: Buffer.from(given.bytes), bounds: given.bounds.slice() };
    this.batches.push({ partition: partition.partition, batch, behind });
    this.values.push(...texts(batch));
    if (this.options.commit) await partition.commit(batch.firstOffset + batch.count);
    this.#note(`batch ${partition.partition}`);
  }

  async onRevoked(partition: Partition): Promise<void> {
    this.assigned.delete(partition.partition);
    this.#note(`revoked ${partition.partition}`);
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.#conditions.delete(check);
        resolve();
      };
      this.#conditions.add(check);
      check();
    });
  }

  #note(event: string): void {
    this.events.push(event);
    this.options.log?.push(`${this.options.name} ${event}`);
    for (const check of [...this.#conditions]) check();
  }
}
