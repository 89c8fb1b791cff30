import type { TableBlock } from '../../warehouse/index.js';
import { lostRanges } from '../tables/lost-ranges.js';
import type { SourcePartition } from '../tables/row-table.js';

/** The row of `lost_ranges` for records that are lost: it has the position of the last of them. */
export function lostRangeBlocks(
  source: SourcePartition,
  loss: { readonly start: number; readonly end: number; readonly cause: string },
): readonly TableBlock[] {
  const builder = lostRanges.newBlock(source);
  builder.append(loss.end, 0, { firstOffset: loss.start, lastOffset: loss.end, cause: loss.cause });
  const block = builder.finish();
  return block ? [block] : [];
}
