import { describe, expect, it } from 'vitest';
import { OutageLog } from '../../core/index.js';
import { memoryLog } from '../collectors/rig.js';

describe('the log of an outage', () => {
  it('is one line when it begins and one when it is over', () => {
    const { log, lines } = memoryLog();
    const outage = new OutageLog(log, 'it is back');
    outage.succeeded();
    for (let n = 0; n < 3; n++) outage.failed('it is down');
    outage.succeeded();
    outage.succeeded();
    expect(lines.map(({ msg }) => msg)).toEqual(['it is down; it is tried again until it works', 'it is back']);
  });

  it('is not ended by what was begun before it', () => {
    const { log, lines } = memoryLog();
    const outage = new OutageLog(log, 'it is back');
    const before = performance.now();
    outage.failed('it is down');
    outage.succeeded(before);
    outage.failed('it is down');
    expect(lines).toHaveLength(1);
    outage.succeeded(performance.now());
    expect(lines).toMatchObject([{ failures: 1 }, { failures: 2, msg: 'it is back' }]);
  });
});
