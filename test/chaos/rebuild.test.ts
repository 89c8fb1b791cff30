import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOPICS } from '../../core/index.js';
import { Rig } from '../pipeline/rig.js';
import type { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import { MarketRecords } from '../warehouse/cluster/market-records.js';
import { compareStates } from './states.js';
import { type TableContent, tableContents } from './table-contents.js';

const NOW = Math.floor(Date.now() / 1000);
const KEEP = { partitions: 4, retentionMs: null, retentionBytes: null };
const BATCHES = ['--batch-delay-ms', '20', '--batch-rows', '100'];

/** An instance with the records of some hours on its bus, whose ClickHouse can be replaced. */
class Instance {
  readonly rig = new Rig();
  readonly data = new MarketRecords(11, this.rig.bus, 6);

  static async start(): Promise<Instance> {
    const instance = new Instance();
    for (const topic of Object.values(TOPICS)) await instance.rig.bus.ensureTopic(topic, KEEP);
    await instance.data.append(NOW - 7200, NOW - 300);
    await instance.rig.start('warehouse');
    return instance;
  }

  get folder(): string {
    return join(this.rig.folder, 'clickhouse');
  }

  worker(...args: string[]): Promise<ServiceProcess> {
    return this.rig.start('transform', [...BATCHES, ...args]);
  }

  /** Writes everything that is on the bus. */
  async write(): Promise<void> {
    const worker = await this.worker();
    await this.rig.drained();
    await worker.stop();
  }

  /** Replaces the files of ClickHouse while it is stopped. */
  async replaceFiles(replace: () => void): Promise<void> {
    await this.rig.service('warehouse').stop();
    replace();
    await this.rig.start('warehouse');
  }

  async contents(): Promise<TableContent[]> {
    return this.rig.rows<TableContent>(`SELECT * FROM (${tableContents('chancery')}) ORDER BY table`);
  }

  /** The line with which a worker refuses to continue. */
  async refusal(): Promise<string> {
    const worker = await this.worker();
    expect(await worker.exited).toBe(3);
    return worker.stderr.trim().split('\n').at(-1) ?? '';
  }

  /** Waits until the tables have these contents: every row once, and in every materialized view what its table has. */
  async expectContents(expected: readonly TableContent[]): Promise<void> {
    const rows = (contents: readonly TableContent[]) => contents.reduce((sum, table) => sum + table.rows, 0);
    await until(async () => {
      const [now, all] = [rows(await this.contents()), rows(expected)];
      return now >= all || `${now} of ${all} rows`;
    });
    await this.rig.drained();
    const contents = await this.contents();
    expect(contents).toEqual(expected);
    expect(contents.filter(({ rows: all, keys }) => all !== keys)).toEqual([]);
    const states = await compareStates(this.rig);
    states.delete('order_states');
    expect([...states].filter(([, { counts }]) => counts.missing + counts.duplicate + counts.invented > 0)).toEqual([]);
    expect(states.get('event_states')?.expected).toBeGreaterThan(0);
    expect(contents.find(({ table }) => table === 'raw_records')?.rows).toBeGreaterThan(500);
  }
}

/** One after the other on one instance, which is complete again after each but the last. */
describe('when ClickHouse lost rows and the bus did not', () => {
  let instance: Instance;
  beforeAll(async () => {
    instance = await Instance.start();
    await instance.write();
  });
  afterAll(() => instance?.rig.close());

  it('a deleted folder is refused and rebuilt, also by workers that are killed', async () => {
    const before = await instance.contents();
    await instance.replaceFiles(() => rmSync(instance.folder, { recursive: true }));
    expect(await instance.refusal()).toMatch(
      /^chancery: rows of \S+ before offset \d+ are missing: database chancery at \S+ is not the one .* `chancery transform --rebuild` .* `chancery transform --accept-loss` /,
    );
    let worker = await instance.worker('--rebuild');
    for (let kill = 0; kill < 3; kill++) {
      await new Promise((resolve) => setTimeout(resolve, 150 * kill));
      await worker.kill9();
      worker = await instance.worker('--rebuild');
    }
    await instance.expectContents(before);
    await worker.stop();
    expect(await instance.rig.value<number>('SELECT count() FROM lost_ranges')).toBe(0);
  });

  it('an older backup is refused and completed; with the option given again nothing changes', async () => {
    const { rig, data, folder } = instance;
    const backup = join(rig.folder, 'backup');
    await instance.replaceFiles(() => cpSync(folder, backup, { recursive: true }));
    await data.more('second', NOW - 200, 300);
    await instance.write();
    const before = await instance.contents();
    await instance.replaceFiles(() => {
      rmSync(folder, { recursive: true });
      cpSync(backup, folder, { recursive: true });
    });
    expect(await instance.refusal()).toMatch(
      / lacks rows of offsets \d+ to \d+: it was restored from an older backup; /,
    );
    const worker = await instance.worker('--rebuild');
    await instance.expectContents(before);
    await worker.stop();

    await data.more('second', NOW - 100, 50);
    const again = await instance.worker('--rebuild');
    await rig.drained();
    const after = await instance.contents();
    await instance.expectContents(after);
    expect(await again.stop()).toBe(0);
    expect(again.stderr).not.toContain('rebuilding');
  });

  it('with --accept-loss the missing records are in lost_ranges and their time is a gap', async () => {
    const { rig, data } = instance;
    await instance.replaceFiles(() => rmSync(instance.folder, { recursive: true }));
    await data.more('second', NOW - 200, 50);
    const worker = await instance.worker('--accept-loss');
    const ends = (await rig.bus.partitions()).reduce((sum, partition) => sum + partition.end, 0);
    await until(async () => {
      const [rows] = await rig.rows<{ lost: number; stored: number }>(
        `SELECT (SELECT sum(last_offset - first_offset + 1) FROM lost_ranges) AS lost,
           (SELECT uniqExact(_topic, _partition, _offset) FROM raw_records) +
           (SELECT uniqExact(_topic, _partition, _offset) FROM dead_letters
            WHERE (_topic, _partition, _offset) NOT IN (SELECT _topic, _partition, _offset FROM raw_records)) AS stored`,
      );
      const found = (rows?.lost ?? 0) + (rows?.stored ?? 0);
      return ((rows?.stored ?? 0) > 0 && found === ends) || `${JSON.stringify(rows)} of ${ends}`;
    });
    await worker.stop();
    expect(await rig.rows('SELECT topic FROM lost_periods WHERE begins_at >= ends_at')).toEqual([]);
    expect(await rig.value<number>("SELECT count() FROM lost_periods WHERE cause LIKE '%deleted or replaced%'")).toBe(
      await rig.value<number>('SELECT count() FROM lost_ranges'),
    );
    // Nothing that was observed before is claimed any more.
    expect(
      await rig.value<number>(`SELECT count() FROM coverage WHERE begins_at < fromUnixTimestamp(${NOW - 300})`),
    ).toBe(0);
  });
});
