import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.js';

const datasource = { type: 'grafana-clickhouse-datasource', uid: 'chancery' };

/** A target of a panel, variable or annotation. */
export const target = (rawSql: string, queryType: 'timeSeries' | 'table' = 'table') => ({
  refId: 'A',
  datasource,
  editorType: 'sql',
  queryType,
  format: queryType === 'timeSeries' ? 0 : 1,
  rawSql,
});

export const panel = (id: number, type: string, rawSql: string, more: Record<string, unknown> = {}) => ({
  id,
  type,
  title: `Panel ${id}`,
  datasource,
  gridPos: { x: 0, y: id * 8, w: 24, h: 8 },
  targets: [target(rawSql, type === 'timeseries' ? 'timeSeries' : 'table')],
  fieldConfig: { defaults: {}, overrides: [] },
  options: {},
  ...more,
});

export const queryVariable = (name: string, rawSql: string, more: Record<string, unknown> = {}) => ({
  type: 'query',
  name,
  query: target(rawSql),
  ...more,
});

export const dashboard = (uid: string, panels: readonly unknown[], more: Record<string, unknown> = {}) => ({
  uid,
  title: `Dashboard ${uid}`,
  schemaVersion: 42,
  time: { from: 'now-1h', to: 'now' },
  panels,
  ...more,
});

/** A folder with these files: text as it is, anything else as JSON. */
export function folderOf(files: Readonly<Record<string, unknown>>): string {
  const folder = join(temporaryFolder(), 'dashboards');
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}
