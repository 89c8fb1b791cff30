import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../core/index.js';
import { DataFolder, MemoryBlocks, Series } from '../../exchange/store/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const root = temporaryFolder();
const opened: DataFolder[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((folder) => folder.close()));
});

let folders = 0;
const newPath = () => join(root, `folder-${folders++}`);

/** A minimal state machine: the list of its commands. */
async function open(path: string): Promise<{ folder: DataFolder; state: string[] }> {
  const folder = await DataFolder.open(path);
  opened.push(folder);
  const state = [...((folder.state as string[] | undefined) ?? [])];
  folder.replay((command) => void state.push(command));
  return { folder, state };
}

/** A copy of the folder as after a kill; copied again when a file is renamed meanwhile. */
function crashedCopy(path: string): string {
  for (;;) {
    const copy = newPath();
    try {
      cpSync(path, copy, { recursive: true, filter: (name) => !name.endsWith('.lock') });
      return copy;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

interface Opener {
  readonly child: ChildProcess;
  /** The response to a line. */
  ask(line: string): Promise<string>;
}

function spawnOpener(): Opener {
  const script = fileURLToPath(new URL('children/open-folder.mjs', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return String((await lines.next()).value);
    },
  };
}

const journalOf = async (path: string): Promise<string> => {
  const names = (await readdir(path)).filter((name) => name.startsWith('journal-')).sort();
  return join(path, names.at(-1) ?? '');
};

describe('the data folder', () => {
  it('replays every command after a kill, without a snapshot and with one', async () => {
    const path = newPath();
    const { folder } = await open(path);
    folder.append('one');
    folder.append('two');
    expect((await open(crashedCopy(path))).state).toEqual(['one', 'two']);
    await folder.checkpoint(['one', 'two']);
    folder.append('three');
    const after = await open(crashedCopy(path));
    expect(after.state).toEqual(['one', 'two', 'three']);
    after.folder.append('four');
    expect(await readdir(path)).toHaveLength(4);
  });

  it('replays every command when the kill happens while a snapshot is written', async () => {
    const path = newPath();
    const { folder } = await open(path);
    folder.append('one');
    let done = false;
    const writing = folder.checkpoint(['one']).then(() => {
      done = true;
    });
    folder.append('two');
    const copies = [crashedCopy(path)];
    while (!done) {
      await setImmediate();
      copies.push(crashedCopy(path));
    }
    await writing;
    for (const copy of copies) expect((await open(copy)).state).toEqual(['one', 'two']);
    expect(copies.length).toBeGreaterThan(2);
  });

  it('drops a torn last command of any length, and continues after it', async () => {
    const path = newPath();
    const { folder } = await open(path);
    for (const command of ['one', 'two', 'three']) folder.append(command);
    const { size } = await stat(await journalOf(path));
    for (let cut = 1; cut < 17; cut++) {
      const copy = crashedCopy(path);
      await truncate(await journalOf(copy), size - cut);
      const torn = await open(copy);
      expect(torn.state).toEqual(['one', 'two']);
      torn.folder.append('four');
      expect((await open(crashedCopy(copy))).state).toEqual(['one', 'two', 'four']);
    }
    const copy = crashedCopy(path);
    await appendFile(await journalOf(copy), Buffer.alloc(5000, 7));
    expect((await open(copy)).state).toEqual(['one', 'two', 'three']);
  });

  it('is rejected in one line when a command or the snapshot is damaged, and when a file is missing', async () => {
    const path = newPath();
    const { folder } = await open(path);
    for (const command of ['one', 'two', 'three']) folder.append(command);
    const damaged = crashedCopy(path);
    const bytes = await readFile(await journalOf(damaged));
    bytes[bytes.indexOf('two')] = 0;
    await writeFile(await journalOf(damaged), bytes);
    await expect(open(damaged)).rejects.toThrow(/journal-0+\.log is damaged at byte 23: restore/);
    await folder.checkpoint(['one', 'two', 'three']);
    const spoiled = crashedCopy(path);
    const snapshot = join(spoiled, 'state-0000000000000003.snapshot');
    const state = await readFile(snapshot);
    state[state.length - 2] = 1;
    await writeFile(snapshot, state);
    await expect(open(spoiled)).rejects.toThrow(UsageError);
    const lacking = crashedCopy(path);
    await rm(join(lacking, 'state-0000000000000003.snapshot'));
    await expect(open(lacking)).rejects.toThrow(/lacks commands 0 to 2/);
    const file = newPath();
    await writeFile(file, 'no folder');
    await expect(open(file)).rejects.toThrow(/cannot use .* as data folder/);
  });

  it('is locked by one process at a time', async () => {
    const path = newPath();
    const { folder } = await open(path);
    await expect(DataFolder.open(path)).rejects.toThrow(`in use by process ${process.pid}`);
    await folder.close();
    opened.length = 0;
    expect((await open(path)).state).toEqual([]);
  });

  it('is opened by one of two processes that start together after a kill of its holder', async () => {
    const openers = [spawnOpener(), spawnOpener()];
    const answers: string[][] = [];
    for (let round = 0; round < 60; round++) {
      const path = newPath();
      await mkdir(path);
      await writeFile(join(path, 'exchange.lock'), JSON.stringify({ pid: process.pid, start: '1', boot: 'x' }));
      const moment = Date.now() + 10;
      answers.push(await Promise.all(openers.map((opener) => opener.ask(`${path} ${moment}`))));
      await Promise.all(openers.map((opener) => opener.ask('')));
    }
    for (const opener of openers) opener.child.kill('SIGKILL');
    const openedBy = answers.map((round) => round.filter((answer) => answer === 'opened').length);
    expect(openedBy).toEqual(openedBy.map(() => 1));
    expect(answers.flat().filter((answer) => answer !== 'opened')[0]).toMatch(/ is in use by (another )?process/);
  });

  it('makes commands durable for many concurrent callers, also across a snapshot', async () => {
    const { folder } = await open(newPath());
    const waits: Promise<void>[] = [];
    for (let i = 0; i < 50; i++) {
      folder.append(`command ${i}`);
      waits.push(folder.durable());
      if (i === 25) waits.push(folder.checkpoint([]));
    }
    expect(await Promise.all(waits)).toHaveLength(51);
    await folder.durable();
  });
});

describe('a series', () => {
  const step = fc.oneof(
    { weight: 30, arbitrary: fc.record({ do: fc.constant('append' as const), value: fc.integer() }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('update' as const), at: fc.nat(), value: fc.integer() }) },
    { weight: 1, arbitrary: fc.constant({ do: 'flush' as const }) },
  );

  it('has the same content as an array, in memory and in a file, also when it is restored', async () => {
    const steps = fc.array(step, { maxLength: 400, size: 'max' });
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 60 }), async (list, width) => {
        const { folder } = await open(newPath());
        const { blocks } = folder;
        const inFile = new Series(blocks, width);
        const inMemory = new Series(new MemoryBlocks(), width);
        const plain: number[][] = [];
        for (const one of list) {
          if (one.do === 'flush') blocks.flush();
          else if (one.do === 'append') {
            const record = Array.from({ length: width }, (_, i) => one.value + i);
            plain.push(record);
            for (const series of [inFile, inMemory]) expect(series.append(record)).toBe(plain.length - 1);
          } else if (plain.length > 0) {
            const index = one.at % plain.length;
            plain[index] = Array.from({ length: width }, (_, i) => one.value - i);
            for (const series of [inFile, inMemory]) series.update(index, plain[index]);
          }
        }
        const restored = Series.restore(blocks, width, inFile.save());
        inMemory.seal();
        for (const series of [inFile, inMemory, restored]) {
          expect([...series.slice(0, plain.length)]).toEqual(plain.flat());
          const [from, to] = [Math.floor(plain.length / 3), Math.floor(plain.length / 2)];
          expect([...series.slice(from, to)]).toEqual(plain.slice(from, to).flat());
          for (const index of [0, from, plain.length - 1]) {
            if (plain[index]) expect([...series.read(index)]).toEqual(plain[index]);
          }
          expect(() => series.read(plain.length)).toThrow(RangeError);
        }
      }),
      { numRuns: 25 },
    );
  });

  it('counts the records up to a value', () => {
    const series = new Series(new MemoryBlocks(), 2);
    for (let i = 0; i < 1000; i++) series.append([Math.floor(i / 2) * 3, i]);
    expect([-1, 0, 2, 3, 1497, 5000].map((value) => series.countUpTo(value))).toEqual([0, 2, 2, 4, 1000, 1000]);
  });
});
