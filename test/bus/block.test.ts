import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatchBuilder, BlockView, encodeBlocks } from '../../bus/embedded/block.js';

const values = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 60 });

/** Encodes values into blocks and decodes them, from offset `first` on. */
function views(of: readonly Uint8Array[], first: number, blockBytes: number): BlockView[] {
  let offset = first;
  return encodeBlocks(of, 1234.5, blockBytes).map(({ bytes, count }) => {
    const view = new BlockView(bytes, offset, 'test');
    offset += count;
    return view;
  });
}

describe('blocks', () => {
  it('contain all values in order, within the size limit unless a single value is larger', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 2000 }), (of, blockBytes) => {
        const blocks = views(of, 7, blockBytes);
        const found = blocks.flatMap((b) => Array.from({ length: b.count }, (_, i) => b.values(i, i + 1)));
        expect(found.map((v) => v.toString('hex'))).toEqual(of.map((v) => Buffer.from(v).toString('hex')));
        for (const b of blocks) {
          expect(b.count === 1 || b.endOf(b.count - 1) <= blockBytes).toBe(true);
          expect(b.appendedAtMs).toBe(1234.5);
        }
        expect(blocks.at(-1)?.endOffset).toBe(7 + of.length);
      }),
    );
  });

  it('return any range of records, in batches of any size', () => {
    const args = [
      values,
      fc.nat(),
      fc.nat(),
      fc.integer({ min: 1, max: 2000 }),
      fc.integer({ min: 1, max: 2000 }),
    ] as const;
    fc.assert(
      fc.property(...args, (of, a, b, blockBytes, maxBytes) => {
        const [from, to] = [a % of.length, b % of.length].sort((x, y) => x - y) as [number, number];
        const blocks = views(of, 0, blockBytes);
        const found: Buffer[] = [];
        for (let offset = from; offset <= to; ) {
          const builder = new BatchBuilder(offset, maxBytes);
          while (builder.nextOffset <= to) {
            const block = blocks.find((x) => x.endOffset > builder.nextOffset) as BlockView;
            if (!builder.add(block, to + 1)) break;
          }
          const batch = builder.build();
          expect(batch.firstOffset).toBe(offset);
          expect(batch.count).toBeGreaterThan(0);
          expect(batch.count === 1 || batch.bytes.length <= maxBytes).toBe(true);
          for (let i = 0; i < batch.count; i++)
            found.push(batch.bytes.subarray(batch.bounds[2 * i], batch.bounds[2 * i + 1]));
          offset += batch.count;
        }
        const wanted = of.slice(from, to + 1).map((v) => Buffer.from(v).toString('hex'));
        expect(found.map((v) => v.toString('hex'))).toEqual(wanted);
      }),
    );
  });

  it('that are truncated or of another format are reported as corrupt', () => {
    const [block] = encodeBlocks([Buffer.from('abc'), Buffer.from('de')], 0);
    const bytes = block?.bytes ?? Buffer.alloc(0);
    for (let length = 0; length < bytes.length; length++) {
      expect(() => new BlockView(bytes.subarray(0, length), 0, 't/0/0')).toThrow('the block at t/0/0 is corrupt');
    }
    expect(() => new BlockView(Buffer.from('not a block at all, but long enough'), 0, 'x')).toThrow('corrupt');
  });
});
