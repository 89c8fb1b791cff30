import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { gzipped, LineGroups } from '../../datasets/market-files.js';

async function* chunksOf(text: string, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

describe('LineGroups', () => {
  it.each([1, 5, 1000])('divides lines by their first fields, in pieces of %i bytes', async (size) => {
    const groups = new LineGroups(chunksOf('x,a,1\nx,a,2\nx,ab,3\nx,b,4\n', size));
    const taken: [string, number][] = [];
    for (const fields of ['x,a,', 'x,ab,', 'x,none,']) {
      let [text, lines] = ['', 0];
      for await (const piece of groups.take(fields, (count) => (lines += count))) text += piece.toString();
      taken.push([text, lines]);
    }
    expect(taken).toEqual([
      ['x,a,1\nx,a,2\n', 2],
      ['x,ab,3\n', 1],
      ['', 0],
    ]);
    expect(await groups.isEmpty()).toBe(false);
    for await (const _ of groups.take('x,b,', () => {}));
    expect(await groups.isEmpty()).toBe(true);
  });
});

describe('gzipped', () => {
  it('compresses a text in pieces, and fails with its source', async () => {
    const pieces: Buffer[] = [];
    for await (const piece of gzipped(chunksOf('rain '.repeat(1000), 7))) pieces.push(piece);
    expect(gunzipSync(Buffer.concat(pieces)).toString()).toBe('rain '.repeat(1000));
    const failing = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from('x');
      throw new Error('no more');
    };
    await expect(async () => {
      for await (const _ of gzipped(failing()));
    }).rejects.toThrow('no more');
  });
});
