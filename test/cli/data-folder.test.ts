import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEmbeddedBus } from '../../bus/index.js';
import { explain } from '../../cli/errors.js';
import { openDataFolder } from '../../cli/service/data-folder.js';
import { assertInstance, assertRecorded, openBusReadOnly } from '../../cli/service/instance.js';
import { announce } from '../../cli/service/registry.js';
import { loadConfig, TOPICS } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { chancery, commandLine } from './command.js';

describe('a data folder that cannot be created', () => {
  it.each(['up', 'exchange', 'collect', 'warehouse'])('gets one line from %s, and no hang', async (part) => {
    const { code, out, err } = await commandLine([part, '--data', '/proc/x']);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe(
      "chancery: /proc cannot contain folders (ENOENT: no such file or directory, mkdir '/proc/x'); choose another with --data\n",
    );
  });

  it('is a file', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const { code, err } = await commandLine(['collect', '--data', file]);
    expect(code).toBe(2);
    expect(err).toBe(`chancery: ${file} is a file, not a folder; choose another with --data\n`);
  });

  it('is on a full disk: the start fails and says what to do', () => {
    const data = temporaryFolder();
    const run = join(data, 'run');
    mkdirSync(run);
    symlinkSync('/dev/full', join(run, 'up.lock'));
    const start = () => announce(data, 'up', {}, { alone: true });
    expect(start).toThrow(`cannot write ${run}/up.lock: ENOSPC`);
    let error: unknown;
    try {
      start();
    } catch (thrown) {
      error = thrown;
    }
    expect(explain(error)).toEqual({
      message:
        'the disk is full: free some space or choose another folder with --data ' +
        `(cannot write ${run}/up.lock: ENOSPC: no space left on device, write)`,
      exitCode: 1,
      defect: false,
    });
  });
});

describe('a data folder that only another user can read', () => {
  // Root can read every folder.
  const isRoot = process.geteuid?.() === 0;

  it.each([
    ['its log', openBusReadOnly],
    ['its layout', assertInstance],
    ['its tables', assertRecorded],
  ])('is not taken for one without data: %s', (_, read) => {
    const settings = loadConfig({ data: temporaryFolder() });
    chmodSync(settings.data, isRoot ? 0o700 : 0);
    if (isRoot) process.seteuid?.(65_534);
    let error: unknown;
    try {
      read(settings);
    } catch (thrown) {
      error = thrown;
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(settings.data, 0o700);
    }
    const { message, exitCode } = explain(error);
    expect(message).toContain('permission denied: change the owner of the folder or choose another with --data');
    expect(message).toContain(settings.data);
    expect(exitCode).toBe(2);
  });
});

describe('a data folder with another layout', () => {
  const COMMANDS = [
    ['up'],
    ['exchange'],
    ['collect'],
    ['transform'],
    ['warehouse'],
    ['migrate'],
    ['sql', 'SELECT 1'],
    ['status'],
  ];
  const advice = 'use the version that wrote it, or choose another folder with --data';

  it.each(COMMANDS)('is refused by %s with one line and exit code 2', async (...args) => {
    const data = temporaryFolder();
    mkdirSync(join(data, 'clickhouse'));
    const { code, out, err } = await commandLine([...args, '--data', data]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe(
      `chancery: data folder ${data} has the layout of an earlier version (it has no file "layout"), ` +
        `and this version of Chancery reads layout "1" only; ${advice}\n`,
    );
    expect(readdirSync(data)).toEqual(['clickhouse']);
  });

  it('is named by doctor', async () => {
    const data = temporaryFolder();
    writeFileSync(join(data, 'layout'), '7\n');
    const { code, out } = await commandLine(['doctor', '--data', data]);
    expect(code).toBe(1);
    expect(out).toContain(`data folder ${data} has the layout "7", and this version of Chancery reads layout "1" only`);
  });
});

describe('a data folder that does not exist', () => {
  it.each([['sql', 'SELECT 1'], ['status'], ['doctor'], ['migrate'], ['transform']])(
    'is not created by %s',
    async (...args) => {
      const data = join(temporaryFolder(), 'none');
      await commandLine([...args, '--data', data]);
      expect(existsSync(data)).toBe(false);
    },
  );

  it('is created by the collector, which logs that', async () => {
    const data = join(temporaryFolder(), 'deep', 'new');
    // The parent's pipe is closed at once: the collector stops right after its start.
    const { code, err } = await chancery(['collect', '--data', data, '--stop-with-parent']);
    expect(code).toBe(0);
    expect(err).toContain(`created the data folder ${data}`);
    expect(existsSync(data)).toBe(true);
  });

  it('or is empty: `chancery sql` starts no server there', async () => {
    const data = temporaryFolder();
    const { code, err } = await commandLine(['sql', '--data', data, 'SELECT 1']);
    expect(code).toBe(2);
    expect(err).toBe(
      `chancery: ${data} has no ClickHouse data yet: no worker has written there; start \`chancery up\`, or name another folder with --data\n`,
    );
    expect(readdirSync(data)).toEqual([]);
    rmSync(data, { recursive: true });
  });
});

describe('an embedded log whose pages are damaged', () => {
  /** A data folder with a log of about 1 MB. */
  async function recorded(): Promise<{ data: string; file: string }> {
    const data = join(temporaryFolder(), 'data');
    openDataFolder(data);
    const bus = openEmbeddedBus({ dir: join(data, 'bus') });
    await bus.ensureTopic(TOPICS.chance, { partitions: 1, retentionMs: null, retentionBytes: null });
    for (let n = 0; n < 50; n++) await bus.append(TOPICS.chance, [{ key: 'k', value: Buffer.alloc(20_000, 1) }]);
    await bus.close();
    return { data, file: join(data, 'bus/data.mdb') };
  }

  const zeros = (length: number) => Buffer.alloc(length);
  const random = (outputLength: number) => createHash('shake256', { outputLength }).update('seed').digest();
  it.each([
    ['zeros', 0, zeros, 'data.mdb is damaged: it is not a data file of LMDB'],
    ['zeros from the third page on', 2, zeros, /data\.mdb is damaged: page \d+ is not a page of a tree/],
    // LMDB alone ends the process with SIGSEGV.
    ['random bytes from the third page on', 2, random, /data\.mdb is damaged: page \d+ is not a page of a tree/],
  ])('is one line of status and of doctor (%s)', async (_, firstPage, damage, cause) => {
    const { data, file } = await recorded();
    const pages = readFileSync(file);
    damage(pages.length - firstPage * 4096).copy(pages, firstPage * 4096);
    writeFileSync(file, pages);
    const lineOf = (text: string) => text.split('\n').filter((line) => line.includes('cannot open the embedded log'));
    const [status, doctor] = await Promise.all([
      chancery(['status', '--data', data]),
      chancery(['doctor', '--data', data]),
    ]);
    // LMDB itself may write a line to stderr.
    expect([status.code, doctor.code]).toEqual([0, 1]);
    expect(lineOf(status.out)).toEqual([expect.stringMatching(/^problem +bus: cannot open the embedded log in /)]);
    expect(status.out).toMatch(cause);
    expect(lineOf(doctor.out)).toEqual([
      expect.stringMatching(/^FAIL +ClickHouse rows: cannot open the embedded log in /),
    ]);
    expect(doctor.out).toMatch(cause);
  });
});
