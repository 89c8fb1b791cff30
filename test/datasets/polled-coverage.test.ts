import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileServer } from '../../datasets/file-server.js';
import { POLLED_TABLES } from '../../datasets/polled-coverage.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const { signal } = new AbortController();

type Poll = readonly [startedAt: number, finishedAt: number, outcome: string];

describe('the time that polls cover', () => {
  let server: FileServer;
  beforeAll(async () => {
    server = await FileServer.start({ folder: temporaryFolder(), unconfined: false }, signal);
  });
  afterAll(() => server?.close());

  /** Times are seconds. */
  async function coveredBy(operation: string, polls: readonly Poll[]): Promise<[number, number][]> {
    const { ranges } = POLLED_TABLES.find((one) => one.operation === operation) ?? {};
    const rows = polls.map((poll) => `(${poll[0]}, ${poll[1]}, '${poll[2]}')`).join(', ');
    const at = (name: string) => `fromUnixTimestamp64Micro(toInt64(${name} * 1000000), 'UTC')`;
    const receipts = `(SELECT ${at('s')} AS started_at, ${at('f')} AS finished_at, outcome
      FROM VALUES('s Float64, f Float64, outcome Enum8(\\'complete\\' = 1, \\'incomplete\\' = 2, \\'failed\\' = 3)', ${rows}))`;
    const seconds = (name: string) => `toUnixTimestamp64Micro(${name}) / 1e6`;
    const found = await server.source.rows<{ from: number; to: number }>(
      `SELECT ${seconds('range_begins')} AS from, ${seconds('range_ends')} AS to FROM (${ranges?.(receipts)}) ORDER BY from`,
      signal,
    );
    return found.map(({ from, to }) => [from, to]);
  }

  it('is that of complete searches, and that between two of them up to a minute', async () => {
    const polls: Poll[] = [
      [100, 101, 'complete'],
      [140, 143, 'complete'],
      // A long poll that another collector's is within.
      [150, 300, 'complete'],
      [170, 171, 'complete'],
      [360, 361, 'complete'],
      [400, 401, 'failed'],
      [421.000001, 422, 'complete'],
      [440, 450, 'incomplete'],
    ];
    expect(await coveredBy('event-search', polls)).toEqual([
      [100, 361],
      [421.000001, 422],
    ]);
    expect(await coveredBy('event-search', [[1, 2, 'failed']])).toEqual([]);
  });

  it('is that between the starts of complete polls of a history, which read everything since the poll before', async () => {
    const polls: Poll[] = [
      [100, 101, 'complete'],
      [105, 106, 'complete'],
      [110, 111, 'failed'],
      [4000, 4001, 'complete'],
      [4005, 4006, 'incomplete'],
      [4010, 4011, 'complete'],
      [4015, 4016, 'complete'],
      [4020, 4021, 'failed'],
    ];
    expect(await coveredBy('activity', polls)).toEqual([
      [100, 4000],
      [4010, 4015],
    ]);
    expect(await coveredBy('activity', [[1, 2, 'complete']])).toEqual([]);
  });
});
