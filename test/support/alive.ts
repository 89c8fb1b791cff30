import { readFileSync } from 'node:fs';

/** Whether a process runs: one that has ended and waits for its parent to notice does not. */
export function alive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // It is gone, maybe only since its file was opened.
    return false;
  }
}
