import { readFileSync, writeFileSync } from 'node:fs';

/** Clock ticks per second in /proc/PID/stat. */
const TICKS_PER_SECOND = 100;

/** CPU time of a process since it started, seconds. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Peak resident memory of a process since its start or since `resetPeak`, bytes. */
export function peakBytes(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/** As `peakBytes`, MB. */
export const peakMemory = (pid: number): number => Math.round(peakBytes(pid) / 1e6);

/** Resets the peak to the current memory. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
