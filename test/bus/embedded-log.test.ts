import { statSync, truncateSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BusWriteError,
  type EmbeddedBus,
  type EmbeddedBusOptions,
  openEmbeddedBus,
  partitionOf,
} from '../../bus/index.js';
import { systemClock } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { Recorder, readAll, runChild } from './rig.js';

const KEEP = { retentionMs: null, retentionBytes: null };
const KB = Buffer.alloc(1000, 'x');
const kilobytes = (n: number) => Array.from({ length: n }, () => ({ key: 'k', value: KB }));

let dir: string;
const handles: EmbeddedBus[] = [];
const open = (options: Partial<EmbeddedBusOptions> = {}) => {
  const bus = openEmbeddedBus({ dir, retentionEveryMs: 0, ...options });
  handles.push(bus);
  return bus;
};

beforeEach(async () => {
  dir = temporaryFolder();
});
afterEach(async () => {
  await Promise.all(handles.splice(0).map((bus) => bus.close()));
});

describe('the embedded log on its disk', () => {
  it('refuses appends with one clear retryable error while the disk is nearly full, and continues to serve reads', async () => {
    const bus = open();
    await bus.ensureTopic('t', { partitions: 1, ...KEEP });
    await bus.append('t', [{ key: 'k', value: KB }]);
    const full = open({ minFreeBytes: Number.MAX_SAFE_INTEGER });
    const error = await full.append('t', [{ key: 'k', value: KB }]).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(BusWriteError);
    expect(error).toMatchObject({ retryable: true });
    expect((error as Error).message).toMatch(/nearly full .* free some space or lower --bus-retention-bytes/);
    expect((await readAll(full, 't'))[0]).toHaveLength(1);
    await bus.append('t', [{ key: 'k', value: KB }]);
    expect((await readAll(full, 't'))[0]).toHaveLength(2);
  });

  it('keeps every acknowledged record while other processes open it', async () => {
    const bus = open();
    await bus.ensureTopic('t', { partitions: 2, ...KEEP });
    const argument = JSON.stringify({ kind: 'embedded', dir, retentionEveryMs: 0 });
    const openers = [0, 1].map(() => runChild('open-loop.mjs', argument));
    const appenders = ['a', 'b'].map((writer) => runChild('append-loop.mjs', argument, 't', writer));
    await Promise.all(appenders.map((child) => child.line(() => child.lines.length >= 600)));
    await Promise.all(openers.map((child) => child.line(() => child.lines.length >= 300)));
    await Promise.all([...openers, ...appenders].map((child) => child.kill()));
    const stored = (await readAll(bus, 't')).flat().map((value) => JSON.parse(value) as { writer: string; n: number });
    for (const [i, writer] of ['a', 'b'].entries()) {
      const acknowledged = Number(appenders[i]?.lines.at(-1)?.split(' ')[1]);
      const own = new Set(stored.filter((record) => record.writer === writer).map(({ n }) => n));
      const lost = Array.from({ length: acknowledged }, (_, n) => n).filter((n) => !own.has(n));
      expect(lost).toEqual([]);
    }
  });

  it('grows beyond the memory map that it was opened with', async () => {
    const bus = open({ mapBytes: 1e6 });
    const other = open({ mapBytes: 1e6 });
    await bus.ensureTopic('t', { partitions: 1, ...KEEP });
    for (let i = 0; i < 10; i++) await bus.append('t', kilobytes(1000));
    expect((await readAll(other, 't'))[0]).toHaveLength(10_000);
    await other.append('t', kilobytes(1000));
    expect((await bus.partitions())[0]?.end).toBe(11_000);
  });

  it('reports why a folder cannot be used', async () => {
    await writeFile(join(dir, 'file'), '');
    const inFile = join(dir, 'file', 'bus');
    expect(() => openEmbeddedBus({ dir: inFile })).toThrow(`cannot open the embedded log in ${inFile}: `);
  });

  it('is refused when its file is not complete or another file, where LMDB would be killed by the system', async () => {
    const bus = open();
    await bus.ensureTopic('t', { partitions: 2, ...KEEP });
    for (let i = 0; i < 20; i++) await bus.append('t', kilobytes(200));
    await bus.close();
    const file = join(dir, 'data.mdb');
    truncateSync(file, statSync(file).size / 2);
    expect(() => open()).toThrow(`cannot open the embedded log in ${dir}: ${file} is damaged: its end is missing`);
    await writeFile(file, 'text '.repeat(10_000));
    expect(() => open()).toThrow(`${file} is damaged: it is not a data file of LMDB`);
    truncateSync(file, 0);
    expect(await open().partitions()).toEqual([]);
  });

  it('is complete when it is opened again', async () => {
    const bus = open();
    await bus.ensureTopic('t', { partitions: 2, ...KEEP });
    await bus.append('t', kilobytes(3));
    const before = await bus.partitions();
    await bus.close();
    await expect(bus.append('t', kilobytes(1))).rejects.toThrow('the bus is closed');
    expect(await open().partitions()).toEqual(before);
  });
});

describe('retention of the embedded log', () => {
  it('keeps a partition near its size, and the file stops growing', async () => {
    const bus = open();
    await bus.ensureTopic('t', { partitions: 1, retentionMs: null, retentionBytes: 3e6 });
    const sizes: number[] = [];
    for (let i = 0; i < 60; i++) {
      await bus.append('t', kilobytes(200 + ((i * 37) % 300)));
      await bus.sweep();
      sizes.push(statSync(join(dir, 'data.mdb')).size);
    }
    const [extent] = await bus.partitions();
    const kept = (extent?.end ?? 0) - (extent?.begin ?? 0);
    expect(kept).toBeGreaterThan(2000);
    expect(kept).toBeLessThanOrEqual(3000);
    expect((await readAll(bus, 't'))[0]).toHaveLength(kept);
    expect(sizes.at(-1)).toBeLessThan((sizes[19] ?? 0) * 1.2);
  });

  it('deletes records older than the limit, by the time of their append', async () => {
    let now = 1_000_000;
    const bus = open({ clock: { ...systemClock, nowMicros: () => now * 1000, nowMs: () => now } });
    await bus.ensureTopic('t', { partitions: 1, retentionMs: 5000, retentionBytes: null });
    for (let i = 0; i < 10; i++, now += 1000) await bus.append('t', kilobytes(1));
    expect(await bus.sweep()).toBe(5);
    expect(await bus.partitions()).toMatchObject([{ begin: 5, end: 10 }]);
    now += 100_000;
    expect(await bus.sweep()).toBe(5);
    expect(await bus.partitions()).toMatchObject([{ begin: 10, end: 10 }]);
    expect((await bus.append('t', kilobytes(1)))[0]?.offset).toBe(10);
  });

  it('runs periodically in small steps, beside appends and consumers', async () => {
    const bus = open({ retentionEveryMs: 10 });
    await bus.ensureTopic('t', { partitions: 2, retentionMs: null, retentionBytes: 1e5 });
    const seen = new Recorder({ commit: true });
    const stop = new AbortController();
    const consuming = bus.consume({ topics: ['t'], group: 'g' }, seen, stop.signal);
    for (let i = 0; i < 100; i++) {
      await bus.append(
        't',
        Array.from({ length: 20 }, (_, k) => ({ key: `k${k}`, value: KB })),
      );
      const wanted = (i + 1) * 20;
      await seen.until(() => seen.values.length === wanted);
    }
    stop.abort();
    await consuming;
    await expect.poll(async () => (await bus.partitions()).every((p) => p.begin > 0)).toBe(true);
  });
});

describe('partitions', () => {
  it('are assigned evenly by key, the same on every machine and in every version', () => {
    expect(
      ['', 'a', 'event-1', '3f0c9c4e-5f0e-4d63-9d3c-0c6b0d1f6a55', 'ключ'].map((k) => partitionOf(k, 1000)),
    ).toEqual([923, 715, 631, 118, 672]);
    const counts = new Array<number>(8).fill(0);
    for (let i = 0; i < 8000; i++)
      counts[partitionOf(`event-${i}`, 8)] = (counts[partitionOf(`event-${i}`, 8)] ?? 0) + 1;
    expect(Math.min(...counts)).toBeGreaterThan(900);
    expect(Math.max(...counts)).toBeLessThan(1100);
  });
});

describe('an idle consumer', () => {
  it('uses less than 1 % of a processor', async () => {
    await open().ensureTopic('t', { partitions: 16, ...KEEP });
    const child = runChild('idle.mjs', JSON.stringify({ kind: 'embedded', dir }), 't', 'g', '16');
    expect(Number(await child.line(() => true))).toBeLessThan(0.01);
  });
});
