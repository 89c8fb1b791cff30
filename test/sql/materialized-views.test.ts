import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSFORM_TABLES } from '../../transforms/tables/index.js';
import { priceEnds } from '../../transforms/tables/price-ends.js';
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
  it('can be run again over a batch with the same result, without effect on other batches', async () => {
    const run = (sql: string) => host.database.run(sql);
    const views =
      await host.database.rows<View>(`SELECT v.name AS name, t.name AS source, extract(v.create_table_query, ' TO \\\\w+\\\\.(\\\\w+)') AS target
      FROM system.tables AS v, system.tables AS t
      WHERE v.engine = 'MaterializedView' AND v.database = currentDatabase() AND has(t.dependencies_table, v.name)`);
    const sources = [...TRANSFORM_TABLES.filter((table) => table.feedsMaterializedViews), priceEnds];
    expect(new Set(views.map((view) => view.source))).toEqual(new Set(sources.map((table) => table.name)));
    const store = new ClickHouseStore(connection);
    for (const table of TRANSFORM_TABLES.filter(({ name }) => views.some(({ source }) => source === name))) {
      const targets = views.filter(({ source }) => source === table.name).map(({ target }) => target);
      const columns = table.columns.filter(({ name }) => !POSITION_COLUMNS.has(name));
      const structure = columns.map(({ name, type }) => `\`${name}\` ${type}`);
      const topic = table.columns.some(({ name }) => name === '_topic') ? ", 'topic' AS _topic" : '';
      const batch = (from: number) => `INSERT INTO ${table.name} (_log, _partition, _offset, _index,
          ${columns.map(({ name }) => `\`${name}\``).join(', ')}${topic && ', _topic'})
        SELECT 'log', 3, ${from} + rowNumberInAllBlocks(), 0, * ${TYPES[table.name] ?? ''}${topic}
        FROM generateRandom('${structure.join(', ').replaceAll("'", "\\'")}', ${from + 1}, 8, 3) LIMIT 10
        SETTINGS allow_suspicious_low_cardinality_types = 1`;
      /** The targets as they are after merges, states of aggregate functions as their bytes. */
      const seen = async () =>
        Object.fromEntries(
          await Promise.all(
            targets.map(async (target) => {
              const lines = (await run(`SELECT * FROM ${target} FINAL FORMAT TSV`)).split('\n').filter(Boolean);
              return [target, lines.sort()] as const;
            }),
          ),
        );
      const truncate = (names: readonly string[]) => Promise.all(names.map((name) => run(`TRUNCATE TABLE ${name}`)));
      await truncate([table.name, ...targets]);
      await run(batch(0));
      const once = await seen();
      for (const target of targets) expect(once[target]?.length, target).toBeGreaterThan(0);
      await run(batch(10));
      await truncate(targets);
      const position = { topic: 'topic', log: 'log', partition: 3, start: 0, end: 9 };
      await store.feedViews(table, position, new AbortController().signal);
      expect(await seen(), table.name).toEqual(once);
    }
  });
});

/** Views that read some types of rows only need rows of these types. */
const TYPES: Readonly<Record<string, string>> = {
  polls: "REPLACE (['trades', 'orders', 'balances'][1 + cityHash64(poll_id) % 3] AS operation)",
  collector_events: "REPLACE (['heartbeat', 'backfilled', 'session-stopped'][1 + cityHash64(sequence) % 3] AS type)",
};
const POSITION_COLUMNS = new Set(['_log', '_partition', '_offset', '_index', '_topic']);
