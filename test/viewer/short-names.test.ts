import { describe, expect, it } from 'vitest';
import { shortNames } from '../../viewer/display/short-names.js';

describe('names of rows', () => {
  it('are whole where they fit, else show both ends', () => {
    expect(shortNames(['YES', 'Will the new tram line be approved?'], 15)).toEqual(['YES', 'Will th…proved?']);
  });

  it('that would look equal show where they differ', () => {
    const names = [
      'Which city hosts the Valdoria summit?',
      'Which club hosts the Valdoria summit?',
      'Which city wins?',
    ];
    expect(shortNames(names, 15)).toEqual(['…city hosts th…', '…club hosts th…', 'Which c…y wins?']);
  });

  it('of two where one begins with the other', () => {
    expect(shortNames(['aaaaaaaa b bbbbbbbb', 'aaaaaaaa b bbbb bbbbbbbb'], 11)).toEqual(['…bbbbbbbb', '…bbbb bbbb…']);
  });

  it('that are equal stay equal', () => {
    const name = 'Who takes the Golden Lantern this year?';
    const [first, second] = shortNames([name, name], 15);
    expect(first).toBe(second);
  });
});
