import { UsageError } from '../core/index.js';
import { inWords, movedBy, parseTime } from './display/relative-time.js';
import type { TimeRange } from './time-range.js';

/** A panel's own time, as in its file, with the variables of it filled in. */
export interface TimeOverride {
  readonly timeFrom?: string | undefined;
  readonly timeShift?: string | undefined;
}

/** The time range of a panel, and what is shown of it beside the title. */
export interface PanelTime {
  readonly range: TimeRange;
  readonly text: string;
}

/**
 * The range of a panel: as in Grafana, `timeFrom` replaces a relative range of the dashboard by one that ends now, and
 * `timeShift` moves the range back.
 * @param isRelative whether the dashboard's range is
 * @throws UsageError for a length of time that is not a number and one of s, m, h, d, w, M, Q, y; `timeFrom` may end with `/d` and
 * the like, which is in UTC
 */
export function panelTime(
  { timeFrom, timeShift }: TimeOverride,
  dashboard: { readonly range: TimeRange; readonly isRelative: boolean },
  now: Date,
): PanelTime {
  let { range } = dashboard;
  const texts: string[] = [];
  if (timeFrom) {
    const start = timeFrom.startsWith('now') ? timeFrom : `now-${timeFrom}`;
    const from = parseTime(start, now.getTime());
    if (from === undefined) unsupported('timeFrom', timeFrom, 'lengths such as 1h or 7d, and now/d');
    if (dashboard.isRelative) {
      range = { from: valid(from), to: now };
      texts.push(start === 'now/d' ? 'Today so far' : (inWords(start) ?? `${start} to now`));
    }
  }
  if (timeShift) {
    range = { from: earlier(range.from, timeShift), to: earlier(range.to, timeShift) };
    texts.push(`timeshift -${timeShift}`);
  }
  return { range, text: texts.join(', ') };
}

function unsupported(property: string, text: string, supported: string): never {
  throw new UsageError(
    `the viewer does not support ${property} ${JSON.stringify(text.slice(0, 40))}: only ${supported}`,
  );
}

const earlier = (time: Date, length: string): Date =>
  valid(movedBy(time.getTime(), `-${length}`) ?? unsupported('timeShift', length, 'lengths such as 1h or 7d'));

function valid(ms: number): Date {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) throw new UsageError('the time range of the panel is beyond what a date can be');
  return at;
}
