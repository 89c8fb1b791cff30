import type { SettingName, Settings } from '../../core/index.js';
import { clickHouseLibrary } from '../../warehouse/index.js';
import { findReadOnly } from '../parts/read-only.js';
import { runningParts } from '../parts/registry.js';
import { isFree } from '../up/ports.js';
import { type Check, fail, ok } from './check.js';

/** The ClickHouse library, the server that runs, and the ports that were asked for. */
export function clickHouseChecks(settings: Settings, given: ReadonlySet<SettingName>): Check[] {
  return [
    ...(settings.clickhouseUrl === undefined ? [{ name: 'ClickHouse library', run: library }] : []),
    { name: 'ClickHouse', run: () => server(settings) },
    ...(given.has('clickhousePort') && settings.clickhousePort !== 0
      ? [{ name: 'port of ClickHouse', run: () => port(settings, settings.clickhousePort) }]
      : []),
  ];
}

async function library() {
  return ok(`installed at ${clickHouseLibrary()}`);
}

async function server(settings: Settings) {
  const connection = await findReadOnly(settings);
  if (!connection) return ok('none runs on the data folder now; `chancery up` starts the embedded one');
  try {
    const answer = await connection.client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' });
    const [row] = await answer.json<{ version: string }>();
    return ok(`version ${row?.version} answers at ${connection.url}`);
  } finally {
    await connection.close();
  }
}

async function port(settings: Settings, wanted: number) {
  if (await isFree(wanted)) return ok(`${wanted} is free`);
  const ours = runningParts(settings.data).some((part) => part.address?.endsWith(`:${wanted}`));
  return ours
    ? ok(`${wanted} is taken by this instance`)
    : fail(
        `${wanted} is taken by another program`,
        'choose another with --clickhouse-port, or leave it out for a free one',
      );
}
