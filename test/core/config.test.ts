import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  CONFIG_FILE,
  envOf,
  flagOf,
  loadConfig,
  nearest,
  parseClusterNodes,
  resolveConfig,
  SETTINGS,
  UsageError,
} from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

function folderWith(file?: string): string {
  const folder = temporaryFolder();
  if (file !== undefined) writeFileSync(join(folder, CONFIG_FILE), file);
  return folder;
}

describe('configuration', () => {
  it('is every setting at its default when nothing is given', () => {
    const { settings, given } = resolveConfig({}, {}, folderWith());
    expect(settings).toEqual(Object.fromEntries(Object.entries(SETTINGS).map(([name, s]) => [name, s.default])));
    expect(given.size).toBe(0);
  });

  it('has valid defaults', () => {
    for (const [name, { schema, default: preset }] of Object.entries(SETTINGS)) {
      expect(schema.safeParse(preset), name).toMatchObject({ success: true, data: preset });
    }
  });

  it('prefers the flag, then the environment, then its alias, then the file, and reports which were given', () => {
    const folder = folderWith('{"clickhouseUrl":"http://file:1","fsync":false,"batchRows":7}');
    const env = { CHANCERY_CLICKHOUSE_URL: 'http://env:2', CLICKHOUSE_URL: 'http://alias:3', CHANCERY_BATCH_ROWS: '8' };
    const { settings, given } = resolveConfig({ batchRows: '9' }, env, folder);
    expect(settings).toMatchObject({ clickhouseUrl: 'http://env:2', fsync: false, batchRows: 9 });
    expect([...given].sort()).toEqual(['batchRows', 'clickhouseUrl', 'fsync']);
    expect(loadConfig({}, { CLICKHOUSE_URL: 'http://alias:3' }, folder).clickhouseUrl).toBe('http://alias:3');
    expect(loadConfig({}, { CHANCERY_BATCH_ROWS: '' }, folder).batchRows).toBe(7);
  });

  it('rejects a value with its source, the value and the help text, but never shows a password', () => {
    const refused = (flags: Record<string, unknown>) => () => loadConfig(flags, {}, folderWith());
    expect(refused({ metricsPort: '70000' })).toThrow(UsageError);
    expect(refused({ metricsPort: '70000' })).toThrow(/^--metrics-port is "70000": .*65535.* This setting is: port of/);
    expect(refused({ clickhousePassword: 7 })).toThrow(/^--clickhouse-password is \[redacted\]: /);
    expect(refused({ fsync: 'perhaps' })).toThrow(/^--fsync is "perhaps"/);
  });

  it('accepts a cluster as text or as lists, and reports an invalid node', () => {
    const cluster = (value: unknown) => loadConfig({ clickhouseCluster: value }, {}, folderWith()).clickhouseCluster;
    expect(cluster('http://a:1, http://b:1/ ;https://c:1')).toBe('http://a:1,http://b:1;https://c:1');
    expect(parseClusterNodes(cluster([['http://a:1', 'http://b:1'], 'http://c:1']))).toEqual([
      ['http://a:1', 'http://b:1'],
      ['http://c:1'],
    ]);
    expect(() => cluster('a:1;http://b:1')).toThrow(
      /^--clickhouse-cluster is "a:1;http:\/\/b:1": "a:1" is not an http:\/\/ or https:\/\/ URL\. This setting is: ClickHouse cluster/,
    );
    expect(() => cluster('http://a:1;;http://b:1')).toThrow('shard 2 has no replica');
    expect(() => cluster('http://a:1;http://a:1')).toThrow('http://a:1 is given twice');
    expect(() => cluster({ a: 1 })).toThrow('it must be URLs, replicas separated by ","');
  });

  it('converts names of settings, and suggests only similar ones', () => {
    expect([flagOf('exchangeUrl'), envOf('exchangeUrl')]).toEqual(['--exchange-url', 'CHANCERY_EXCHANGE_URL']);
    expect(nearest('exchangeUlr', ['exchangeUrl', 'data'])).toBe(' (did you mean exchangeUrl?)');
    expect(nearest('quite something else', ['exchangeUrl', 'data'])).toBe('');
    expect(nearest('anything', [])).toBe('');
  });
});
