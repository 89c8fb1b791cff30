import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { removeDrafts, writeFileAtomic, writeFileAtomicSync } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

describe.each([
  ['writeFileAtomicSync', async (path: string, text: string) => writeFileAtomicSync(path, text)],
  ['writeFileAtomic', (path: string, text: string) => writeFileAtomic(path, text)],
  ['writeFileAtomic, durable', (path: string, text: string) => writeFileAtomic(path, text, true)],
])('%s', (_, write) => {
  it('replaces the content and makes the file private', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'old', { mode: 0o644 });
    await write(path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('replaces a link and leaves the file that it named', async () => {
    const target = join(folder, 'target');
    writeFileSync(target, 'of another process');
    symlinkSync(target, join(folder, 'file'));
    await write(join(folder, 'file'), 'ours');
    expect(readFileSync(target, 'utf8')).toBe('of another process');
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('ours');
  });

  it('leaves no temporary file when it fails', async () => {
    const path = join(folder, 'is-a-folder', 'file');
    await expect(write(path, 'new')).rejects.toThrow('ENOENT');
    expect(readdirSync(folder)).toEqual([]);
  });
});

it('removes temporary files of processes that have ended, and no others', () => {
  const ended = spawnSync(process.execPath, ['--eval', '']).pid;
  for (const name of [`a.json.${ended}.tmp`, `a.json.${process.ppid}.tmp`, 'a.json', 'a.tmp']) {
    writeFileSync(join(folder, name), '');
  }
  removeDrafts(folder);
  expect(readdirSync(folder).sort()).toEqual([`a.json.${process.ppid}.tmp`, 'a.json', 'a.tmp'].sort());
});
