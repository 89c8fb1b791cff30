import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSFORM_TABLES } from '../../transforms/tables/index.js';
import { ClickHouseStore } from '../../warehouse/exactly-once/clickhouse-store.js';
import type { Connection } from '../../warehouse/index.js';
import { useDatabase } from '../support/database.js';

const host = useDatabase({ migrated: true });
let connection: Connection;

interface View {
  readonly name: string;
  readonly source: string;
  readonly target: string;
}

beforeAll(() => {
  connection = host.database.connect();
});
afterAll(() => connection.close());

describe('every materialized view of the schema', () => {
  it('can be run again over a batch: the same comes out, and nothing of other batches', async () => {
    const run = (sql: string) => host.database.run(sql);
    const views =
      await host.database.rows<View>(`SELECT v.name AS name, t.name AS source, extract(v.create_table_query, ' TO \\\\w+\\\\.(\\\\w+)') AS target
      FROM system.tables AS v, system.tables AS t
      WHERE v.engine = 'MaterializedView' AND v.database = currentDatabase() AND has(t.dependencies_table, v.name)`);
    expect(new Set(views.map((view) => view.source))).toEqual(
      new Set(TRANSFORM_TABLES.filter((table) => table.feedsMaterializedViews).map((table) => table.name)),
    );
    const store = new ClickHouseStore(connection);
    for (const { name, source, target } of views) {
      const table = TRANSFORM_TABLES.find((definition) => definition.name === source);
      if (!table) throw new Error(`${source} is not written`);
      const columns = table.columns.map((column) => column.name).filter((column) => !POSITION_COLUMNS.has(column));
      const structure = columns.map((column) => `\`${column}\` ${table.columns.find((c) => c.name === column)?.type}`);
      await run(`TRUNCATE TABLE ${source}`);
      await run(`TRUNCATE TABLE ${target}`);
      const topic = table.columns.some((column) => column.name === '_topic') ? ", 'topic' AS _topic" : '';
      const batch = (from: number) => `INSERT INTO ${source} (_log, _partition, _offset, _index,
          ${columns.map((column) => `\`${column}\``).join(', ')}${topic && ', _topic'})
        SELECT 'log', 3, ${from} + rowNumberInAllBlocks(), 0, *${topic}
        FROM generateRandom('${structure.join(', ').replaceAll("'", "\\'")}', ${from + 1}, 8, 3) LIMIT 10
        SETTINGS allow_suspicious_low_cardinality_types = 1`;
      await run(batch(0));
      /** The target as it is after merges, states of aggregate functions as their bytes. */
      const seen = async () =>
        (await run(`SELECT * FROM ${target} FINAL FORMAT TSV`)).split('\n').filter(Boolean).sort();
      const once = await seen();
      expect(once.length, name).toBeGreaterThan(0);
      await run(batch(10));
      await run(`TRUNCATE TABLE ${target}`);
      const position = { topic: 'topic', log: 'log', partition: 3, start: 0, end: 9 };
      await store.feedViews(table, position, new AbortController().signal);
      expect(await seen(), name).toEqual(once);
    }
  }, 120_000);
});

const POSITION_COLUMNS = new Set(['_log', '_partition', '_offset', '_index', '_topic']);
