import { parseClusterNodes, type Settings, UsageError } from '../../core/index.js';

/**
 * The configured ClickHouse: a server, a cluster, or by default the embedded one of the data folder.
 * @throws UsageError when both a server and a cluster are configured
 */
export function clickHouseTarget({
  clickhouseUrl,
  clickhouseCluster,
}: Pick<Settings, 'clickhouseUrl' | 'clickhouseCluster'>): ClickHouseTarget {
  if (clickhouseUrl !== undefined && clickhouseCluster !== undefined) {
    throw new UsageError(
      'both a ClickHouse server (--clickhouse-url) and a cluster (--clickhouse-cluster) are configured; remove one',
    );
  }
  if (clickhouseUrl !== undefined) return { kind: 'server', url: clickhouseUrl };
  if (clickhouseCluster !== undefined) return { kind: 'cluster', nodes: parseClusterNodes(clickhouseCluster) };
  return { kind: 'embedded' };
}

export type ClickHouseTarget =
  | { readonly kind: 'embedded' }
  | { readonly kind: 'server'; readonly url: string }
  /** URLs of the nodes, by shard and replica. */
  | { readonly kind: 'cluster'; readonly nodes: readonly (readonly string[])[] };
