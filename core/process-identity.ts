import { readFileSync } from 'node:fs';

/** Identifies one run of a process: a PID alone is reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot; null where the operating system does not report it. */
  readonly start: string | null;
  readonly boot: string | null;
}

export function ownIdentity(): ProcessIdentity {
  return identityOf(process.pid);
}

/** The present run of a running process. */
export function identityOf(pid: number): ProcessIdentity {
  return { pid, start: processStat(pid)?.start ?? null, boot: bootId() };
}

/** Whether that run of the process is still running. */
export function isAlive({ pid, start, boot }: ProcessIdentity): boolean {
  return boot === bootId() && (start === null || processStat(pid)?.start === start) && isRunning(pid);
}

/** Whether a process with this PID is running. A zombie is not: it cannot write any more. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !/^[ZX]/.test(processStat(pid)?.state ?? '');
}

function processStat(pid: number): { state: string; start: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the command in parentheses and may contain any character; the state is the field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', start: fields[19] ?? '' };
  } catch {
    return null;
  }
}

function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return null;
  }
}
