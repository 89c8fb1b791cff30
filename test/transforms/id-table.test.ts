import { expect, it } from 'vitest';
import { IdTable, same, viewOf } from '../../transforms/native/id-table.js';

it('a text equals the same bytes anywhere, and none of which one byte is another', () => {
  for (let length = 1; length <= 40; length++) {
    const text = Buffer.from('0123456789abcdefghijklmnopqrstuvwxyz-_ABCDEF'.slice(0, length));
    // Every position of the text relative to a multiple of eight.
    for (let start = 0; start < 8; start++) {
      const bytes = Buffer.concat([Buffer.alloc(start, 0xff), text, Buffer.alloc(8, 0xff)]);
      const isSame = () => same(text, viewOf(text), 0, bytes, viewOf(bytes), start, length);
      expect(isSame()).toBe(true);
      for (let at = start; at < start + length; at++) {
        const byte = bytes[at] as number;
        for (const other of [byte ^ 1, byte ^ 0x80, 0, 0x7f, 0xff]) {
          bytes[at] = other;
          if (isSame()) throw new Error(`${length} bytes at ${start} equal ${bytes.toString('hex')}`);
        }
        bytes[at] = byte;
      }
    }
  }
});

it('finds the number of a text by its bytes, and none for bytes that are no text of it', () => {
  const ids = new IdTable();
  const text = '6f1c7f2e-0d3b-4c55-9a7e-2f4f6f0b9a11';
  const number = ids.intern(text);
  const find = (bytes: Buffer) => ids.find(bytes, viewOf(bytes), 0, bytes.length);
  expect(find(Buffer.from(text))).toBe(number);
  // As doubles, these bytes are NaN.
  expect(find(Buffer.alloc(text.length, 0xff))).toBe(-1);
  expect(find(Buffer.from(text.replace('9a11', '9a12')))).toBe(-1);
});
