import { expect, it } from 'vitest';
import { U32Column } from '../../transforms/native/columns.js';
import { NativeBlock } from '../../transforms/native/native-block.js';
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
