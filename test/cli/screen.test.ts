import { describe, expect, it } from 'vitest';
import { Screen } from '../../cli/up/screen.js';

/** A stream that stores the text written since the last `take`. */
function recorder(isTTY: boolean, columns = 80, rows = 24) {
  const written: string[] = [];
  return {
    isTTY,
    columns,
    rows,
    write: (text: string) => written.push(text),
    take: () => written.splice(0).join(''),
  };
}
const ESC = '\u001b';

describe('the screen of up', () => {
  it('redraws the status view in place on a terminal and prints messages above it', () => {
    const stream = recorder(true);
    const screen = new Screen(stream);
    screen.show(['a', 'b']);
    expect(stream.take()).toBe('a\nb\n');
    screen.show(['c', 'd']);
    expect(stream.take()).toBe(`${ESC}[2A${ESC}[Jc\nd\n`);
    screen.show(['c', 'd']);
    expect(stream.take()).toBe('');
    screen.print('it happened');
    expect(stream.take()).toBe(`${ESC}[2A${ESC}[Jit happened\nc\nd\n`);
  });

  it('counts wrapped lines without colour codes, and omits lines that exceed the window', () => {
    const stream = recorder(true, 6, 5);
    const screen = new Screen(stream);
    screen.show([`${ESC}[1mabc${ESC}[0mdefgh`, '123456', '3', '4']);
    expect(stream.take()).toBe(`${ESC}[1mabc${ESC}[0mdefgh\n123456\n3\n`);
    screen.show(['x']);
    expect(stream.take()).toBe(`${ESC}[4A${ESC}[Jx\n`);
  });

  it('escapes control characters in messages, which may contain text of the exchange', () => {
    const stream = recorder(true);
    new Screen(stream).print(`collect: ${ESC}]0;owned\u0007`);
    expect(stream.take()).toBe('collect: \\x1b]0;owned\\x07\n');
  });

  it('writes lines without control codes when the output is not a terminal', () => {
    const stream = recorder(false);
    const screen = new Screen(stream);
    screen.show(['a', 'b']);
    screen.print('later');
    screen.show(['c']);
    expect(stream.take()).toBe('a\nb\nlater\nc\n');
  });
});
