import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { UsageError } from '../../core/index.js';

/** Keeps a second process out of a folder. The lock of a process that is gone does not count. */
export class FolderLock {
  #held = false;

  constructor(
    private readonly path: string,
    private readonly folder: string,
  ) {}

  /** @throws UsageError while another live process holds it */
  take(): void {
    const mine = `${process.pid} ${startOf(process.pid)}\n`;
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        writeFileSync(this.path, mine, { flag: 'wx' });
        this.#held = true;
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = holderOf(this.path);
      if (holder !== undefined) {
        throw new UsageError(
          `${this.folder} is in use by process ${holder}; stop it, or name another folder with --data`,
        );
      }
      rmSync(this.path, { force: true });
    }
    throw new UsageError(`${this.path} cannot be taken; remove it if no exchange uses ${this.folder}`);
  }

  release(): void {
    if (this.#held) rmSync(this.path, { force: true });
    this.#held = false;
  }
}

function holderOf(path: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  const [pid, start] = text.trim().split(' ');
  const number = Number(pid);
  if (!Number.isInteger(number) || number <= 0 || !isAlive(number)) return undefined;
  return startOf(number) === (start ?? '') ? number : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process began, as far as the system tells: a number that is used again is then known for another process. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
  } catch {
    return '-';
  }
}
