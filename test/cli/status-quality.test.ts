import { renameSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findDamagedParts } from '../../cli/doctor/damaged-parts.js';
import { diskSpace } from '../../cli/doctor/machine.js';
import { findReadOnly } from '../../cli/service/read-only.js';
import { daysLeft, fewDaysProblems } from '../../cli/status/days-left.js';
import { qualityOf } from '../../cli/status/quality.js';
import { renderStatus } from '../../cli/status/render.js';
import { tableSizes } from '../../cli/status/tables.js';
import { isRecord } from '../../cli/up/monitor.js';
import { loadConfig } from '../../core/index.js';
import { Connection, migrate } from '../../warehouse/index.js';
import { useClickHouse } from '../support/clickhouse.js';

const NO_LETTERS = { reasons: 0, count: 0 };

describe('the counts of status and up', () => {
  const server = useClickHouse();

  it('lists the most frequent reasons of dead letters and counts the others; control characters are escaped', async () => {
    const { dataFolder, endpoint } = server.clickhouse;
    const owner = new Connection({ endpoint: endpoint.owner, database: 'chancery', application: 'test' });
    await migrate(owner, { fsync: false }, new AbortController().signal);
    await owner.close();
    await server.clickhouse.run(`
      INSERT INTO chancery.dead_letters (_topic, _log, _partition, _offset, _index, reason)
      SELECT 't', 'l', 0, number, 0, concat('reason ', char(27), '[2J ', toString(number % 25)) FROM numbers(55)`);
    // In the present hour, also if it has just begun.
    await server.clickhouse.run(`
      INSERT INTO chancery.audits (_log, _partition, _offset, _index, audited_at, last_equal_at, stream, event, reason,
        changes, compared, changed, missed, mismatches)
      SELECT 'l', 0, number, 0, now64(6) AS audited_at, audited_at - 30 - 5 * (number = 0), 'order-book', 'e', 'interval', 100, 60, 50,
        number = 0, number = 0
      FROM numbers(10)`);
    const connection = await findReadOnly(loadConfig({ data: dataFolder }, {}));
    if (!connection) throw new Error('the embedded ClickHouse is not found');
    await server.clickhouse.run(`
      INSERT INTO chancery.collector_events (_log, _partition, _offset, _index, recorded_at, session_id, sequence, type, collector, shard)
      SELECT 'l', 0, number, 0, now64(6) - toIntervalMinute([90, 40, 20, 0][number + 1]), toString(intDiv(number, 2)), number + 1,
        if(number % 2 = 0, 'session-started', 'heartbeat'), 'c', '0/1'
      FROM numbers(4)`);
    const quality = await qualityOf(connection.client, 'chancery');
    // 20 minutes of a collector that began before the last hour, and 20 of the next one.
    expect(quality.recordedSeconds).toBeCloseTo(2400, -1);
    const tables = await tableSizes(connection.client, 'chancery');
    await connection.close();
    expect(quality.deadLetters).toHaveLength(20);
    expect(quality.otherDeadLetters).toEqual({ reasons: 5, count: 10 });

    const [audits] = quality.audits;
    expect(audits).toMatchObject({
      ...{ stream: 'order-book', audits: 10, mismatches: 1, intervalP50Seconds: 30, intervalMaxSeconds: 35 },
      loss: { samples: 500, lostSamples: 1, rate: 0.002 },
    });
    expect(Date.now() - Date.parse(audits?.loss?.from ?? '')).toBeLessThan(3_700_000);

    const disk = { bus: 0, clickhouse: 0, exchange: 0, free: 0 };
    const reportedAt = new Date(0).toISOString();
    const report = {
      dataFolder,
      reportedAt,
      services: [],
      bus: null,
      clickhouse: null,
      tables,
      quality,
      disk,
      problems: [],
    };
    const lines = renderStatus(report);
    const from = lines.indexOf('dead letters') + 1;
    expect(lines[lines.indexOf('audits, last hour') + 2]).toMatch(
      /^ {2}order-book +10 +30 s +35 s +1 +0\.20 % +0\.03 % to 1\.13 %$/,
    );
    expect(lines[from]).toBe('  55  total');
    expect(lines[from + 1]).toBe('   3  reason \\x1b[2J 0');
    expect(lines[from + 21]).toBe('  10  … and 5 other reasons');
    expect(lines.join('\n')).toMatch(/applied_sql .*one row per key\n.*and \d+ empty tables/s);
  });

  it('doctor names parts that ClickHouse set aside because their files are damaged', async () => {
    const { dataFolder, endpoint, run, rows } = server.clickhouse;
    const shard = new Connection({ endpoint: endpoint.owner, database: 'chancery', application: 'test' });
    onTestFinished(() => shard.close());
    await run('CREATE TABLE chancery.damaged (n UInt8) ORDER BY n');
    for (const n of [1, 2]) await run(`INSERT INTO chancery.damaged VALUES (${n})`);
    // Detached on purpose is not damaged.
    await run("ALTER TABLE chancery.damaged DETACH PART 'all_1_1_0'");
    await run("ALTER TABLE chancery.damaged DETACH PART 'all_2_2_0'");
    expect(await findDamagedParts([shard])).toEqual([]);
    const [part] = await rows<{ path: string }>("SELECT path FROM system.detached_parts WHERE name = 'all_2_2_0'");
    const path = resolve(dataFolder, part?.path ?? '');
    // As ClickHouse does at its start.
    renameSync(path, join(dirname(path), 'broken-on-start_all_2_2_0'));
    expect(await findDamagedParts([shard])).toEqual(['damaged broken-on-start_all_2_2_0']);
    await run('DROP TABLE chancery.damaged');
  });

  it('says when the disk is full at the present rate, and warns below 3 days', async () => {
    const startedAt = new Date(0).toISOString();
    const delay = { topic: 't', ageSeconds: 0, p50Seconds: 0, p99Seconds: 0, maxSeconds: 0 };
    const known = {
      dataFolder: '',
      reportedAt: startedAt,
      services: [{ service: 'collect', pid: 1, healthy: true, detail: {}, startedAt }],
      bus: [{ topic: 't', partition: 0, begin: 500, end: 1500, committed: 0, lag: 0 }],
      clickhouse: null,
      tables: [{ name: 'raw_records', rows: 4000, bytes: 0, merges: false }],
      quality: {
        // Half an hour of the last one, whenever the present collector started.
        recordedSeconds: 1800,
        delays: [{ ...delay, records: 1800 }],
        coverage: [],
        audits: [],
        deadLetters: [],
        otherDeadLetters: NO_LETTERS,
      },
      // 30 + 10 bytes per record on the bus and in ClickHouse and the exchange; one record per second.
      disk: { bus: 30_000, clickhouse: 30_000, exchange: 10_000, free: 40 * 86_400 * 2.5 },
    };
    expect(daysLeft(known)).toBeCloseTo(2.5);
    expect(daysLeft({ ...known, quality: { ...known.quality, recordedSeconds: 3600 } })).toBeCloseTo(5);
    expect(daysLeft({ ...known, quality: { ...known.quality, recordedSeconds: 599 } })).toBeNull();
    expect(daysLeft({ ...known, services: [] })).toBeNull();
    const lines = renderStatus({ ...known, diskDaysLeft: daysLeft(known), problems: [] });
    expect(lines.find((line) => line.startsWith('disk '))).toMatch(/, full in 2\.5 days at the present rate$/);
    const folder = server.clickhouse.dataFolder;
    const { state } = await diskSpace(folder, async () => null);
    const enough = await diskSpace(folder, async () => 3);
    expect(enough).toMatchObject({
      state,
      found: expect.stringMatching(/free, full in 3\.0 days at the present rate$/),
    });
    expect((await diskSpace(folder, async () => 2.9)).state).toBe(state === 'ok' ? 'warn' : state);
    expect(fewDaysProblems(3)).toEqual([]);
    expect(fewDaysProblems(2.9)).toEqual([
      expect.stringMatching(/^disk: full in 2\.9 days at the present rate; free /),
    ]);
  });

  it('shows nothing for data that could not be read', () => {
    const disk = { bus: 0, clickhouse: 0, exchange: 0, free: 0 };
    const nothing = {
      dataFolder: '',
      reportedAt: new Date(0).toISOString(),
      services: [],
      clickhouse: null,
      disk,
      problems: [],
    };
    const unasked = renderStatus({ ...nothing, bus: null, tables: null, quality: null });
    expect(unasked.filter((line) => line === '  unknown: see the problem below')).toHaveLength(6);
    const empty = renderStatus({ ...nothing, bus: [], tables: [], quality: null });
    expect(empty.join('\n')).toMatch(
      /nothing recorded yet.*none yet.*nothing observed yet.*none yet.*no records.*none/s,
    );
  });

  it('excludes tables whose rows are removed by merges from the recorded rows', async () => {
    for (const [name, engine] of [
      ['grows', 'MergeTree'],
      ['replaces', 'ReplacingMergeTree'],
      ['adds', 'AggregatingMergeTree'],
    ]) {
      await server.clickhouse.run(
        `CREATE TABLE chancery.${name} ENGINE = ${engine} ORDER BY n AS SELECT number AS n FROM numbers(3)`,
      );
    }
    const connection = await findReadOnly(loadConfig({ data: server.clickhouse.dataFolder }, {}));
    const sizes = connection ? await tableSizes(connection.client, 'chancery') : [];
    await connection?.close();
    expect(sizes.filter(isRecord).map(({ name }) => name)).toEqual([
      'audits',
      'collector_events',
      'dead_letters',
      'grows',
    ]);
  });
});
