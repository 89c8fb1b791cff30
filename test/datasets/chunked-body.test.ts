import { describe, expect, it } from 'vitest';
import { ChunkedBody } from '../../datasets/chunked-body.js';

const ENCODED = Buffer.from('3\r\nabc\r\nC\r\n\r\n0\r\n\r\nrest!\r\n0\r\n\r\n', 'latin1');

describe('a body in chunked encoding', () => {
  it.each([1, 2, 3, 5, 100])('is decoded from parts of %d bytes', (size) => {
    let text = '';
    const body = new ChunkedBody((bytes) => {
      text += bytes.toString('latin1');
    });
    for (let at = 0; at < ENCODED.length; at += size) {
      expect(body.isComplete && at + 2 < ENCODED.length).toBe(false);
      body.push(ENCODED.subarray(at, at + size));
    }
    expect([text, body.isComplete]).toEqual(['abc\r\n0\r\n\r\nrest!', true]);
  });

  it('is incomplete without its last chunk, and refused without a size', () => {
    const body = new ChunkedBody(() => undefined);
    body.push(ENCODED.subarray(0, -5));
    expect(body.isComplete).toBe(false);
    expect(() => body.push(Buffer.from('xyz\r\n'))).toThrow('a chunk without a size');
    expect(() => new ChunkedBody(() => undefined).push(Buffer.alloc(100))).toThrow('a chunk without a size');
  });
});
