import { expect, it } from 'vitest';
import { ProgressView } from '../../cli/export/progress.js';

/** What a view of these moments (seconds) writes. */
function shown(isTTY: boolean): string[] {
  const said: string[] = [];
  let seconds = 0;
  const view = new ProgressView({ isTTY, write: (text) => said.push(text) }, () => 1_000_000 + seconds * 1000);
  const all = { filesInAll: 4, rowsInAll: 10_200, bytes: 0 };
  view.show({ ...all, files: 1, rows: 200 });
  seconds = 20;
  view.show({ ...all, files: 1, rows: 200, rowsBefore: 200 });
  seconds = 22;
  view.show({ ...all, files: 2, rows: 4200, rowsBefore: 200 });
  seconds = 25;
  view.show({ ...all, files: 4, rows: 10_200, rowsBefore: 200 });
  return said;
}

it('the progress of an export is a bar on a terminal, with the rate and the time left since the computed tables', () => {
  const bar = (filled: number) => `\r\x1b[K[${'█'.repeat(filled)}${'░'.repeat(30 - filled)}]`;
  expect(shown(true)).toEqual([
    `${bar(0)} 200 of 10,200 rows, 1 of 4 files`,
    `${bar(0)} 200 of 10,200 rows, 1 of 4 files`,
    `${bar(12)} 4,200 of 10,200 rows, 2 of 4 files, 2,000 rows/s, 3 s left`,
    `${bar(30)} 10,200 of 10,200 rows, 4 of 4 files, 2,000 rows/s, 0 s left\n`,
  ]);
});

it('the progress of an export is a line every five seconds without a terminal', () => {
  expect(shown(false)).toEqual([
    '200 of 10,200 rows, 1 of 4 files\n',
    '200 of 10,200 rows, 1 of 4 files\n',
    '10,200 of 10,200 rows, 4 of 4 files, 2,000 rows/s, 0 s left\n',
  ]);
});
