import { describe, expect, it } from 'vitest';
import { findReadOnly } from '../../cli/parts/read-only.js';
import { qualityOf } from '../../cli/status/quality.js';
import { renderStatus } from '../../cli/status/render.js';
import { tableSizes } from '../../cli/status/tables.js';
import { isRecord } from '../../cli/up/monitor.js';
import { loadConfig } from '../../core/index.js';
import { Connection, migrate } from '../../warehouse/index.js';
import { useClickHouse } from '../support/clickhouse.js';

describe('what status and up count', () => {
  const server = useClickHouse();

  it('names the most frequent reasons of dead letters and counts all others; controls are written out', async () => {
    const { dataFolder, endpoint } = server.clickhouse;
    const owner = new Connection({ endpoint: endpoint.owner, database: 'chancery', application: 'test' });
    await migrate(owner, { fsync: false }, new AbortController().signal);
    await owner.close();
    await server.clickhouse.run(`
      INSERT INTO chancery.dead_letters (_topic, _log, _partition, _offset, _index, reason)
      SELECT 't', 'l', 0, number, 0, concat('reason ', char(27), '[2J ', toString(number % 25)) FROM numbers(55)`);
    const connection = await findReadOnly(loadConfig({ data: dataFolder }, {}));
    if (!connection) throw new Error('the embedded ClickHouse is not found');
    const quality = await qualityOf(connection.client, 'chancery');
    const tables = await tableSizes(connection.client, 'chancery');
    await connection.close();
    expect(quality.deadLetters).toHaveLength(20);
    expect(quality.otherDeadLetters).toEqual({ reasons: 5, count: 10 });

    const disk = { bus: 0, clickhouse: 0, exchange: 0, free: 0 };
    const at = new Date(0).toISOString();
    const report = { dataFolder, at, parts: [], bus: null, clickhouse: null, tables, quality, disk, problems: [] };
    const lines = renderStatus(report);
    const from = lines.indexOf('dead letters') + 1;
    expect(lines[from]).toBe('  55  total');
    expect(lines[from + 1]).toBe('   3  reason \\x1b[2J 0');
    expect(lines[from + 21]).toBe('  10  … and 5 other reasons');
    expect(lines.join('\n')).toMatch(/applied_sql .*one row per key\n.*and \d+ empty tables/s);
  });

  it('claims nothing of what could not be asked', () => {
    const disk = { bus: 0, clickhouse: 0, exchange: 0, free: 0 };
    const nothing = { dataFolder: '', at: new Date(0).toISOString(), parts: [], clickhouse: null, disk, problems: [] };
    const unasked = renderStatus({ ...nothing, bus: null, tables: null, quality: null });
    expect(unasked.filter((line) => line === '  unknown: see the problem below')).toHaveLength(5);
    const empty = renderStatus({ ...nothing, bus: [], tables: [], quality: null });
    expect(empty.join('\n')).toMatch(/nothing recorded yet.*none yet.*nothing observed yet.*no records.*none/s);
  });

  it('leaves out of what was recorded the tables whose rows merges take away', async () => {
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
    expect(sizes.filter(isRecord).map(({ name }) => name)).toEqual(['dead_letters', 'grows']);
  });
});
