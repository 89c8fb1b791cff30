import type { Settings } from '../../core/index.js';
import { TRANSFORM_TABLES } from '../../transforms/index.js';
import {
  assertNode,
  type Cluster,
  type ClusterNode,
  checkColumns,
  clickHouseLibrary,
  findEmbedded,
  unconfinedReason,
} from '../../warehouse/index.js';
import { clickHouseTarget } from '../service/clickhouse-target.js';
import { clusterOf } from '../service/database.js';
import { findReadOnly } from '../service/read-only.js';
import { type Check, type Finding, ok, warn } from './check.js';

/** Checks of the ClickHouse library and of the running server, or of every node of the cluster. */
export function clickHouseChecks(settings: Settings): Check[] {
  const target = clickHouseTarget(settings);
  return [
    ...(target.kind === 'embedded'
      ? [
          { name: 'ClickHouse library', run: library },
          { name: 'ClickHouse confinement', run: () => confinement(settings) },
        ]
      : []),
    ...(target.kind === 'cluster'
      ? nodeChecks(settings, target.nodes)
      : [{ name: 'ClickHouse', run: () => server(settings) }]),
  ];
}

async function library() {
  return ok(`installed at ${clickHouseLibrary()}`);
}

async function confinement({ data, clickhouseUnconfined: unconfined }: Settings) {
  const running = await findEmbedded(data);
  const reason = running ? running.unconfined : unconfinedReason({ unconfined });
  if (reason === undefined)
    return ok(`${running ? 'the running server is' : 'a server would be'} confined to its files`);
  return warn(
    `none (${reason}): every ClickHouse user can read this operating system user's files`,
    'give the password of `reader` only to people who may read them, or use Linux 5.19 or newer without --clickhouse-unconfined',
  );
}

async function server(settings: Settings) {
  const connection = await findReadOnly(settings);
  if (!connection) return ok('not running; `chancery up` starts the embedded server');
  try {
    const answer = await connection.client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' });
    const [row] = await answer.json<{ version: string }>();
    return ok(`version ${row?.version} responds at ${connection.url}`);
  } finally {
    await connection.close();
  }
}

/** A check per node: it responds, matches the configuration, and has its tables. */
function nodeChecks(settings: Settings, nodes: readonly (readonly string[])[]): Check[] {
  const names = nodes.flatMap((urls, shard) =>
    urls.map((url) => `ClickHouse shard ${shard + 1}, ${new URL(url).host}`),
  );
  return names.map((name, number) => ({ name, run: () => nodeFinding(settings, number) }));
}

async function nodeFinding(settings: Settings, number: number): Promise<Finding> {
  const cluster = clusterOf(settings, 'chancery doctor');
  const node = cluster?.nodes[number];
  if (!cluster || !node) throw new RangeError(`there is no node ${number}`);
  try {
    return await checkNode(cluster, node);
  } finally {
    await cluster.close();
  }
}

async function checkNode(cluster: Cluster, node: ClusterNode): Promise<Finding> {
  const { connection } = node;
  const signal = new AbortController().signal;
  const [row] = await connection.query<{ version: string }>('SELECT version() AS version', {}, signal);
  const counts = await assertNode(cluster, node, signal);
  const answers = `version ${row?.version} responds at ${connection.url}`;
  if (counts.length === 0) return warn(`${answers}; no tables yet`, 'run `chancery migrate`');
  await checkColumns(connection, TRANSFORM_TABLES);
  return ok(`${answers}; tables are up to date`);
}
