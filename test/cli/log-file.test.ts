import { mkdirSync, readFileSync, rmdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LogFile } from '../../cli/up/log-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the log of a part', () => {
  it('drops lines while the disk is full, reports that once, and then states how many were dropped', () => {
    const path = join(temporaryFolder(), 'collect.log');
    symlinkSync('/dev/full', path);
    const said: string[] = [];
    const log = new LogFile(path, (text) => said.push(text));
    log.write('one');
    log.write('two');
    expect(log.dropped).toBe(2);
    expect(said).toEqual([expect.stringMatching(/^cannot write .*collect\.log \(.*ENOSPC.*\): its lines are dropped/)]);
    rmSync(path);
    log.write('three');
    log.write('four');
    expect(log.dropped).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe('\n(2 lines dropped: could not be written)\nthree\nfour\n');
    expect(said).toHaveLength(1);
  });

  it('is rotated at its limit, also if the file cannot be moved or was deleted', () => {
    const path = join(temporaryFolder(), 'collect.log');
    mkdirSync(`${path}.1`);
    const said: string[] = [];
    const log = new LogFile(path, (text) => said.push(text), 5);
    log.write('too long');
    log.write('lost');
    expect(said).toHaveLength(1);
    rmdirSync(`${path}.1`);
    log.write('next');
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('too long\n');
    expect(readFileSync(path, 'utf8')).toContain('(1 lines dropped: could not be written)\nnext\n');
    rmSync(path);
    log.write('lost with its file');
    log.write('again');
    expect(readFileSync(path, 'utf8')).toMatch(/again\n$/);
  });
});
