import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEmbeddedBus } from '../../bus/index.js';
import { announce } from '../../cli/service/registry.js';
import { useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { commandLine } from './command.js';

interface Status {
  services: { service: string; healthy: boolean; detail: Record<string, unknown> }[];
  bus: { topic: string; partition: number; begin: number; end: number; committed: number | null; lag: number }[];
  clickhouse: { url: string } | null;
  tables: { name: string; rows: number }[] | null;
  disk: { bus: number; clickhouse: number; free: number };
  problems: string[];
}

describe('chancery status', () => {
  const server = useClickHouse();
  const status = async () => {
    const { code, out } = await commandLine(['status', '--json', '--data', server.clickhouse.dataFolder]);
    expect(code).toBe(0);
    return JSON.parse(out) as Status;
  };

  it('counts rows per table and the lag per partition', async () => {
    const data = server.clickhouse.dataFolder;
    const bus = openEmbeddedBus({ dir: join(data, 'bus') });
    await bus.ensureTopic('chancery.collector-events', { partitions: 2, retentionMs: null, retentionBytes: null });
    const placed = await bus.append('chancery.collector-events', [
      { key: 'a', value: Buffer.from('1') },
      { key: 'a', value: Buffer.from('2') },
    ]);
    await bus.close();
    const empty = await status();
    expect(empty.tables).toEqual([]);
    await server.clickhouse.run('CREATE DATABASE IF NOT EXISTS chancery');
    await server.clickhouse.run(
      'CREATE TABLE chancery.t ENGINE = MergeTree ORDER BY n AS SELECT number AS n FROM numbers(5)',
    );

    const found = await status();
    expect(found.bus.find((p) => p.partition === placed[0]?.partition)).toEqual({
      topic: 'chancery.collector-events',
      partition: placed[0]?.partition,
      begin: 0,
      end: 2,
      committed: null,
      lag: 2,
    });
    expect(found.bus.reduce((sum, p) => sum + p.lag, 0)).toBe(2);
    expect(found.tables).toMatchObject([{ name: 't', rows: 5 }]);
    expect(found.clickhouse?.url).toBe(server.clickhouse.endpoint.url);
    expect(found.disk.clickhouse).toBeGreaterThan(10_000);
    expect(found.problems).toEqual([]);
  });

  it('shows a running service that does not respond as unhealthy, with the reason', async () => {
    const known = announce(server.clickhouse.dataFolder, 'collect', { health: 'http://127.0.0.1:1' });
    const { services } = await status();
    const { out } = await commandLine(['status', '--data', server.clickhouse.dataFolder]);
    known.end();
    expect(services).toMatchObject([
      { service: 'collect', healthy: false, detail: { cause: expect.stringContaining('no response') } },
    ]);
    expect(out).toMatch(/^ {2}collect {2}UNHEALTHY {2}for \S+ \S+ {2}process \d+ .*no response/m);
  });
});

describe('chancery status of a folder without running services', () => {
  it('reports what is not running and how to start it', async () => {
    const { code, out } = await commandLine(['status', '--data', temporaryFolder()]);
    expect(code).toBe(0);
    expect(out).toContain('none running; `chancery up` starts all of them');
    expect(out).toContain('problem      ClickHouse: not running on this data folder');
  });

  it('refuses a folder that does not exist', async () => {
    const { code, err } = await commandLine(['status', '--data', '/nowhere/at/all']);
    expect(code).toBe(2);
    expect(err).toMatch(/^chancery: data folder \/nowhere\/at\/all does not exist; [^\n]+\n$/);
  });
});
