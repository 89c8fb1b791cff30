import { describe, expect, it } from 'vitest';
import { PLAIN, progressLine, type StatusViewState, statusView } from '../../cli/up/status-view.js';

const tables = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((name, i) => ({
  name: `table_${name}`,
  rows: 1000 * (i + 1),
  perSecond: i,
}));

const state: StatusViewState = {
  version: '0.1.0',
  dataFolder: '/data',
  services: [
    { name: 'collect', state: 'ready', address: 'http://127.0.0.1:1', about: 'streams and polls → bus' },
    { name: 'transform', state: 'restarting', address: '', about: 'bus → ClickHouse, exactly once' },
  ],
  tables,
  waiting: 3,
  newestSeconds: 0.4,
  deadLetters: 0,
  viewerUrl: 'http://127.0.0.1:8080',
  consoleUrl: 'http://127.0.0.1:2/play',
  question: 'npx chancery sql "SELECT 1"',
};

describe('the status view of up', () => {
  it('shows the services, the largest tables first, and the others together', () => {
    expect(statusView(state, PLAIN).slice(3, 18)).toEqual([
      '  open   http://127.0.0.1:8080',
      '',
      '  collect    ready       http://127.0.0.1:1  streams and polls → bus',
      '  transform  restarting                      bus → ClickHouse, exactly once',
      '',
      '  table_j   10,000  +9/s',
      '  table_i    9,000  +8/s',
      '  table_h    8,000  +7/s',
      '  table_g    7,000  +6/s',
      '  table_f    6,000  +5/s',
      '  table_e    5,000  +4/s',
      '  table_d    4,000  +3/s',
      '  table_c    3,000  +2/s',
      '  2 others   3,000  +1/s',
      '  newest row 400 ms old · 3 records not in ClickHouse yet · 0 dead letters',
    ]);
  });

  it('has a form of one log line, with the services that are down', () => {
    expect(progressLine(state)).toBe(
      'recorded 55,000 rows (+45/s): table_j 10,000, table_i 9,000, table_h 8,000, table_g 7,000, 6 others 21,000; ' +
        'newest row 400 ms old; 3 records not in ClickHouse yet; 0 dead letters; transform restarting',
    );
  });
});
