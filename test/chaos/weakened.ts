import { randomUUID } from 'node:crypto';
import { ClickHouseStore } from '../../warehouse/exactly-once/clickhouse-store.js';
import { ExactlyOnceWriter, type OpenOptions, type PartitionStore, type WriterOptions } from '../../warehouse/index.js';

/** Which protection is disabled, to show that it is needed. */
export type Protection = 'intent' | 'token' | 'read-back';

/** The writer without one of its protections; complete if none is named. */
export function weakenedWriter(options: WriterOptions, without: Protection | undefined): ExactlyOnceWriter {
  const stores = options.shards.map((connection) => {
    const store = new ClickHouseStore(connection);
    if (without === 'token') forgetTokens(store);
    if (without === 'read-back') believeAnswers(store);
    return store;
  });
  return without === 'intent' ? new ForgetfulWriter(options, stores) : new ExactlyOnceWriter(options, stores);
}

/** ClickHouse never recognises a block. */
function forgetTokens(store: ClickHouseStore): void {
  const insert = store.insert.bind(store);
  store.insert = (block, request) => insert(block, { ...request, token: randomUUID() });
}

/** An insert with a successful response counts as stored, without a check. */
function believeAnswers(store: ClickHouseStore): void {
  const answered = new Map<string, number>();
  const insert = store.insert.bind(store);
  const keyOf = (table: string, token: string) => `${table} ${token}`;
  store.insert = async (block, request) => {
    await insert(block, request);
    answered.set(keyOf(block.table.name, request.token), block.rows);
  };
  store.countPositions = async (table, { log, topic, partition, start, end }) => {
    const rows = answered.get(keyOf(table.name, `${log}/${topic}/${partition}/${start}-${end}`)) ?? 0;
    return { rows, positions: rows };
  };
  store.countOutdated = async () => 0;
}

/** The intent is not committed. */
class ForgetfulWriter extends ExactlyOnceWriter {
  override open(partition: PartitionStore, options: OpenOptions) {
    let remembered: { readonly offset: number; readonly intent?: string } | undefined;
    const forgetful: PartitionStore = {
      topic: partition.topic,
      partition: partition.partition,
      log: partition.log,
      heldForMs: partition.heldForMs,
      assertOwned: () => partition.assertOwned(),
      committed: async () => remembered ?? (await partition.committed()),
      commit: async (offset, intent) => {
        await partition.commit(offset);
        remembered = { offset, ...(intent === undefined ? {} : { intent }) };
      },
    };
    return super.open(forgetful, options);
  }
}
