import type { RecordingState } from '../recording-state.js';
import { formatMissing } from './units.js';

/** The state of recording, or why it is not known. */
export type RecordingMessage = { readonly state: RecordingState } | { readonly problem: string };

export interface RecordingText {
  readonly text: string;
  readonly level: 'good' | 'bad' | 'none';
}

/** Recording counts as stopped when the newest collector event is older: one is written at least once a second. */
const STOPPED_SECONDS = 15;
/** The viewer sends the state every 5 s. When it is overdue, the age of the newest record grows with the silence. */
const OVERDUE_MS = 7000;
/** After this silence it is not known whether recording runs: the viewer or ClickHouse may hang. */
const MAX_SILENCE_MS = 20_000;

/** Whether the text of a message changes while no other one comes. */
export const isOverdue = (silentMs: number): boolean => silentMs > OVERDUE_MS;

/**
 * What the header of every page says about recording.
 * @param message the last one; undefined before the first
 * @param silentMs how long ago it came, or the page was opened
 */
export function recordingText(message: RecordingMessage | undefined, silentMs: number): RecordingText {
  const silentSeconds = silentMs / 1000;
  if (silentMs > MAX_SILENCE_MS) {
    return { text: `no answer for ${ageOf(silentSeconds)}: not known whether it is recording`, level: 'bad' };
  }
  if (!message) return { text: '', level: 'none' };
  if ('problem' in message) return { text: message.problem, level: 'bad' };
  const { liveCollectors, newestSeconds, openStreams, liveStreams, missing } = message.state;
  if (newestSeconds === null) return { text: 'nothing is recorded yet', level: 'none' };
  const seconds = newestSeconds + (isOverdue(silentMs) ? silentSeconds : 0);
  const isRunning = liveCollectors > 0 && seconds < STOPPED_SECONDS;
  const age = `newest record ${ageOf(seconds)} old`;
  const gap =
    missing === null ? ', no event was open in the last hour' : `, ${formatMissing(missing)} missing in the last hour`;
  if (!isRunning) return { text: `recording has stopped or is late, ${age}${gap}`, level: 'bad' };
  if (openStreams > 0 && liveStreams === 0) {
    return { text: `the collector runs, but observes none of the open events${gap}`, level: 'bad' };
  }
  return { text: `recording, ${age}${gap}`, level: 'good' };
}

function ageOf(seconds: number): string {
  if (seconds < 100) return `${seconds.toFixed(0)} s`;
  if (seconds < 6000) return `${(seconds / 60).toFixed(0)} min`;
  return seconds < 48 * 3600 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(0)} days`;
}
