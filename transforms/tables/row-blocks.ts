import type { BlockBuilder, RowTable, SourcePartition } from './row-table.js';

/** The blocks of one batch by table, created on a table's first row. */
export class RowBlocks {
  readonly #blocks = new Map<RowTable<never>, BlockBuilder<never>>();

  constructor(private readonly source: SourcePartition) {}

  get all(): Iterable<Pick<BlockBuilder<never>, 'rows' | 'bytes' | 'finish'>> {
    return this.#blocks.values();
  }

  of<Row>(table: RowTable<Row>): BlockBuilder<Row> {
    const key = table as unknown as RowTable<never>;
    let block = this.#blocks.get(key);
    if (!block) {
      block = table.newBlock(this.source) as unknown as BlockBuilder<never>;
      this.#blocks.set(key, block);
    }
    return block as unknown as BlockBuilder<Row>;
  }
}
