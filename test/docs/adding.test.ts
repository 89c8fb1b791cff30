import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** How many files each thing may touch. */
const MAX_FILES = {
  'A setting': 1,
  'A command': 2,
  'A view': 1,
  'A panel': 1,
  'A table': 4,
  'A collector event': 3,
  'A REST poll': 12,
  'A stream': 13,
} as const;

const sections = readFileSync('docs/adding.md', 'utf8').split('\n## ').slice(1);
const filesOf = (section: string) => [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => file);

describe('docs/adding.md', () => {
  it('has a list for each thing, short enough', () => {
    const counts = sections.map((section) => [section.split('\n')[0], filesOf(section).length]);
    expect(Object.fromEntries(counts)).toEqual(MAX_FILES);
  });

  it('names files that exist', () => {
    const files = sections.flatMap(filesOf);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });
});
