import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Manifest } from '../../datasets/release/manifest.js';
import { manifestDamages } from '../../datasets/release/verify-manifest.js';
import { commandLine } from '../cli/command.js';
import { useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { recordInstance } from './recorded.js';

const newFolder = () => join(temporaryFolder(), 'release');
const LICENSED = ['--license', 'CC-BY-4.0', '--creator', 'Ann Example', '--title', 'Rain: "markets"'];

describe('chancery export --release', () => {
  const server = useClickHouse();
  beforeAll(() => recordInstance(server.clickhouse));
  const run = (out: string, ...more: string[]) =>
    commandLine(['export', '--data', server.clickhouse.dataFolder, '--out', out, '--candle-periods', '3600', ...more]);

  it('describes every file in the manifest, in SHA256SUMS and in the documents', async () => {
    const out = newFolder();
    const { code, out: said } = await run(out, '--release', 'rain@1.0.0', '--simulated', ...LICENSED);
    expect(code).toBe(0);
    const text = readFileSync(join(out, 'manifest.json'), 'utf8');
    const manifest = JSON.parse(text) as Manifest;
    const own = createHash('sha256')
      .update(text.replace(manifest.manifest_sha256, '0'.repeat(64)))
      .digest('hex');
    expect(manifest.manifest_sha256).toBe(own);
    expect(said).toContain(`release rain@1.0.0, SHA-256 of its manifest: ${own}\n`);
    expect(execFileSync('sha256sum', ['-c', '--strict', 'SHA256SUMS'], { cwd: out, encoding: 'utf8' })).not.toMatch(
      /FAILED/,
    );
    expect(existsSync(join(out, 'export-state.json'))).toBe(false);
    expect(manifest).toMatchObject({
      ...{ format_version: 1, name: 'rain', version: '1.0.0', simulated: true, include_private: false },
      ...{ license: 'CC-BY-4.0', creator: 'Ann Example', source_url: null, unfinished_days: [] },
      days: ['2026-01-04', '2026-01-05'],
      software: { name: 'chancery', version: '0.1.0', transform_version: expect.stringMatching(/^\d+$/) },
    });
    const ticks = manifest.files.find(({ path }) => path === 'price_ticks/2026-01-05.parquet');
    expect(ticks).toMatchObject({
      ...{ rows: 8000, first_at: '2026-01-05T00:00:00.000000Z', last_at: '2026-01-05T23:59:49.200000Z' },
      offsets: [{ log: expect.any(String), partition: 0, first: 4, last: 7 }],
    });
    const open = 2 * 2 * 86_400;
    const searched = (table: string) => [
      { table, state: 'observed', seconds: 4 },
      { table, state: 'unknown', seconds: open - 4 },
    ];
    const unknown = (table: string) => ({ table, state: 'unknown', seconds: open });
    expect(manifest.coverage).toEqual([
      ...[unknown('activity_records'), unknown('chance_points')],
      ...[...searched('event_observations'), ...searched('market_observations'), unknown('price_ticks')],
    ]);
    expect(manifest.not_rebuildable).toEqual(['activity_records', 'collector_events', 'polls']);
    expect(manifestDamages(manifest)).toEqual([]);
    expect(manifestDamages({ ...manifest, not_rebuildable: ['polls'] })).toEqual([
      {
        path: 'manifest.json',
        what: 'has other not_rebuildable than its files: activity_records, collector_events, polls',
      },
    ]);
    const columns = manifest.tables.flatMap((table) =>
      table.columns.map((column) => ({ ...column, table: table.name })),
    );
    expect(columns.filter(({ comment }) => !comment)).toEqual([]);
    const meaning = (table: string, name: string) =>
      columns.find((column) => column.table === table && column.name === name)?.comment;
    expect(meaning('candles', 'mid_open')).toMatch(/^First mid of bid and ask .* NULL when no tick has both sides$/);
    expect(meaning('activity_records', 'username')).toMatch(/^HMAC-SHA-256 of the name of the user/);
    const card = readFileSync(join(out, 'README.md'), 'utf8');
    expect(card).toContain('**This is data of a simulated exchange, not of a real one.**');
    expect(card).toContain('pretty_name: "Rain: \\"markets\\""\n');
    const croissant = JSON.parse(readFileSync(join(out, 'croissant.json'), 'utf8')) as { distribution: unknown[] };
    expect(croissant.distribution).toHaveLength(manifest.files.length);
    const resources = (JSON.parse(readFileSync(join(out, 'datapackage.json'), 'utf8')) as { resources: object[] })
      .resources;
    expect(resources.map((resource) => 'bytes' in resource)).toEqual(manifest.files.map(() => false));
  });

  it('lists the files that have changed since an earlier version', async () => {
    const [first, second, third] = [newFolder(), newFolder(), newFolder()];
    const options = ['--tables', 'price_ticks,polls,chance_points'];
    await run(first, '--release', 'rain@1', ...options, '--to', '2026-01-04');
    await server.clickhouse.run(
      "INSERT INTO chancery.price_ticks SELECT * REPLACE (999999 AS _index) FROM chancery.price_ticks WHERE toDate(received_at) = '2026-01-04' LIMIT 1",
    );
    try {
      const args = [...options.slice(0, 1), 'price_ticks,chance_points', '--previous', first];
      expect((await run(second, '--release', 'rain@2', ...args)).code).toBe(0);
    } finally {
      await server.clickhouse.run(
        'ALTER TABLE chancery.price_ticks DELETE WHERE _index = 999999 SETTINGS mutations_sync = 1',
      );
    }
    const manifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
    expect(manifest(first)).not.toHaveProperty('changes');
    expect(manifest(second).changes).toEqual({
      since: { version: '1', manifest_sha256: manifest(first).manifest_sha256 },
      added: ['chance_points/2026-01-05.parquet', 'price_ticks/2026-01-05.parquet'],
      removed: ['polls/2026-01-04.parquet'],
      changed: ['price_ticks/2026-01-04.parquet'],
    });
    expect(readFileSync(join(second, 'README.md'), 'utf8')).toContain(
      '## Changes since 1\n\n- Added: `chance_points/2026-01-05.parquet`, ',
    );
    const { err } = await run(third, '--release', 'snow@2', '--previous', first);
    expect(err).toBe(`chancery: ${first} has rain@1, which is not an earlier version of snow@2\n`);
    expect((await run(third, '--previous', first)).err).toBe('chancery: --previous needs --release\n');
  });

  it('hashes the rows in RowBinary, which anyone can compute again', async () => {
    const out = newFolder();
    await run(out, '--release', 'rain@1.0.0', '--tables', 'chance_points,event_observations');
    const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as Manifest;
    const [row] = await server.clickhouse.rows<Record<string, string | number>>(
      "SELECT *, toUnixTimestamp64Micro(received_at) AS r, toUnixTimestamp64Micro(occurred_at) AS o FROM chancery.chance_points WHERE toDate(occurred_at) = '2026-01-04'",
    );
    const hash = createHash('sha256');
    const text = (value: unknown) => hash.update(Buffer.from([String(value).length])).update(String(value));
    const number = (bytes: number, value: unknown) => {
      const buffer = Buffer.alloc(8);
      buffer.writeBigInt64LE(BigInt(Number(value)));
      hash.update(buffer.subarray(0, bytes));
    };
    text(row?._log);
    number(4, row?._partition);
    number(8, row?._offset);
    number(4, row?._index);
    for (const time of [row?.r, row?.o]) number(8, time);
    for (const name of ['event', 'market']) text(row?.[name]);
    const chance = Buffer.alloc(8);
    chance.writeDoubleLE(Number(row?.chance));
    hash.update(chance);
    text('change');
    hash.update(Buffer.from([0]));
    const file = manifest.files.find(({ path }) => path === 'chance_points/2026-01-04.parquet');
    expect(file?.content_sha256).toBe(hash.digest('hex'));
  });

  it('never invents a licence, and never changes a release', async () => {
    const out = newFolder();
    await run(out, '--release', 'rain@1.0.0', '--tables', 'polls');
    expect(readFileSync(join(out, 'README.md'), 'utf8')).toMatch(
      /^---\nlicense: unknown\n[\s\S]*\n- Licence: not stated\n/,
    );
    expect(readFileSync(join(out, 'CITATION.cff'), 'utf8')).not.toMatch(/^license/m);
    expect(await run(out, '--release', 'rain@1.0.1', '--tables', 'polls')).toMatchObject({
      ...{ code: 2, err: `chancery: ${out} has a release, which is never changed; choose another folder with --out\n` },
    });
  });

  it('refuses a wrong name, another format, and accounts that are not meant to be public', async () => {
    const refused = async (...more: string[]) => (await run(newFolder(), ...more)).err;
    expect(await refused('--release', 'Rain')).toMatch(
      /^chancery: [^\n]*Rain is not NAME@VERSION, like rain-markets@1\.0\.0 [^\n]+\n$/,
    );
    expect(await refused('--from', '2026-01-05', '--to', '2026-01-04')).toBe(
      'chancery: --from 2026-01-05 is after --to 2026-01-04\n',
    );
    expect(await refused('--release', 'a@1', '--format', 'csv')).toBe(
      'chancery: a release has Parquet files: --release needs --format parquet\n',
    );
    expect(await refused('--release', 'a@1', '--accounts', 'main-account')).toBe(
      'chancery: --accounts would publish private records: a release with them needs --include-private\n',
    );
  });

  it('names users differently in releases of another name', async () => {
    const user = async (name: string) => {
      const out = newFolder();
      await run(out, '--release', name, '--tables', 'activity_records');
      const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as Manifest;
      return manifest.files.map(({ content_sha256 }) => content_sha256);
    };
    const [first, same, other] = [await user('rain@1'), await user('rain@2'), await user('snow@1')];
    expect(first).toHaveLength(1);
    expect(same).toEqual(first);
    expect(other).not.toEqual(first);
  });
});
