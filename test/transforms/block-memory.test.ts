import { expect, it } from 'vitest';
import { CHUNK_BYTES } from '../../transforms/native/chunks.js';
import { BytesColumn, U32Column } from '../../transforms/native/columns.js';
import { NativeBlock } from '../../transforms/native/native-block.js';
import { stringEntry } from '../../transforms/native/native-body.js';
import { collectorEvents } from '../../transforms/tables/collector-events.js';

it('a block reuses its memory for batches of similar size, and releases that of a far larger one', () => {
  const rooms: number[] = [];
  class Watched extends U32Column {
    override resize(capacity: number): void {
      rooms.push(capacity);
      super.resize(capacity);
    }
  }
  const column = new Watched('UInt32');
  const table = { ...collectorEvents, columns: [{ name: 'n', type: 'UInt32' }] };
  const block = new NativeBlock(table as never, [column]);
  const batch = (rows: number) => {
    for (let i = 0; i < rows; i++) column.set(block.nextRow(), i);
    return block.finish();
  };
  batch(40_000);
  expect(rooms.at(-1)).toBe(65_536);
  batch(10_000);
  expect(rooms.at(-1)).toBe(65_536);
  batch(10);
  expect(rooms.at(-1)).toBe(0);
  const small = batch(10);
  expect(rooms.at(-1)).toBe(1024);
  batch(1);
  expect(rooms.at(-1)).toBe(1024);
  expect(small?.rows).toBe(10);
  expect(small?.body.subarray(-40)).toEqual(Buffer.from(Uint32Array.from({ length: 10 }, (_, i) => i).buffer));
});

it('texts of any length are in a block as they were added, also when two blocks are filled in turn', () => {
  const table = { ...collectorEvents, columns: [{ name: 's', type: 'String' }] };
  const blocks = [1, 2].map(() => {
    const column = new BytesColumn();
    return { column, block: new NativeBlock(table as never, [column]) };
  });
  const lengths = [1, CHUNK_BYTES - 20, 0, 300, CHUNK_BYTES * 3, CHUNK_BYTES - 5, CHUNK_BYTES, 127, 128];
  for (let batch = 0; batch < 3; batch++) {
    const added = blocks.map(() => [] as Buffer[]);
    for (const [row, length] of lengths.entries()) {
      for (const [i, { block, column }] of blocks.entries()) {
        const text = Buffer.alloc(length, 'abcdefghijk'[batch * 3 + i * 2 + (row % 2)]);
        block.nextRow();
        if (length === 0) column.pushEmpty();
        else column.push(Buffer.concat([Buffer.from('x'), text, Buffer.from('y')]), 1, 1 + length);
        added[i]?.push(stringEntry(text));
        expect(column.bytes).toBe(added[i]?.reduce((sum, { length }) => sum + length, 0));
      }
    }
    for (const [i, { block, column }] of blocks.entries()) {
      const values = Buffer.concat(added[i] ?? []);
      const body = block.finish()?.body;
      expect(body?.subarray(-values.length).equals(values)).toBe(true);
      expect(column.bytes).toBe(0);
    }
  }
});
