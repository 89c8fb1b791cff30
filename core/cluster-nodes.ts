import { z } from 'zod';

const nodeUrl = z.url({ protocol: /^https?$/ });
const lists = z.array(z.array(z.string()).or(z.string()));

/**
 * The nodes of a cluster as text: shards separated by `;`, the replicas of a shard by `,`. In a configuration file also a
 * list of shards, each a URL or a list of its replicas' URLs.
 */
export const clusterNodesSchema = z.unknown().transform((value, context): string => {
  try {
    return parseClusterNodes(value)
      .map((replicas) => replicas.join(','))
      .join(';');
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});

/**
 * URLs of the nodes, by shard and replica.
 * @throws RangeError with the invalid part
 */
export function parseClusterNodes(value: unknown): string[][] {
  const shards = shardsOf(value);
  const seen = new Set<string>();
  for (const [i, replicas] of shards.entries()) {
    if (replicas.length === 0) throw new RangeError(`shard ${i + 1} has no replica`);
    for (const url of replicas) {
      if (!nodeUrl.safeParse(url).success)
        throw new RangeError(`${JSON.stringify(url)} is not an http:// or https:// URL`);
      const { host, pathname } = new URL(url);
      if (seen.has(host + pathname))
        throw new RangeError(`${url} is given twice; every node is one replica of one shard`);
      seen.add(host + pathname);
    }
  }
  if (shards.length === 0) throw new RangeError('there is no shard');
  return shards;
}

function shardsOf(value: unknown): string[][] {
  if (typeof value === 'string') return value.split(';').map((shard) => itemsOf(shard.split(',')));
  const parsed = lists.safeParse(value);
  if (!parsed.success)
    throw new RangeError('it must be URLs, replicas separated by "," and shards by ";", or a list of lists');
  return parsed.data.map((shard) => itemsOf(typeof shard === 'string' ? shard.split(',') : shard));
}

const itemsOf = (urls: readonly string[]): string[] => urls.map((url) => url.trim().replace(/\/$/, '')).filter(Boolean);
