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
export const peakBytes = (pid: number): number => statusBytes(pid, 'VmHWM');

/** Resident memory of a process, bytes. */
export const residentBytes = (pid: number): number => statusBytes(pid, 'VmRSS');

/** The peak without what is mapped from files now, which the kernel drops before it ends a process of a full container, bytes. */
export const peakUnreclaimableBytes = (pid: number): number => peakBytes(pid) - statusBytes(pid, 'RssFile');

/** Resident memory of a process that is not mapped from files, bytes. */
export const anonymousBytes = (pid: number): number => statusBytes(pid, 'RssAnon');

function statusBytes(pid: number, field: string): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`${field}:`));
  return Number(line?.match(/\d+/)?.[0]) * 1024;
}

/** As `peakBytes`, MB. */
export const peakMemory = (pid: number): number => Math.round(peakBytes(pid) / 1e6);

/** Resets the peak to the current memory. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
