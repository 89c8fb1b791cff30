import { describe, expect, it } from 'vitest';
import { OutageLog } from '../../core/index.js';
import { memoryLog } from '../collectors/rig.js';
import { ManualClock } from '../support/clocks.js';

describe('the log of an outage', () => {
  it('has one line at the start and one on recovery', () => {
    const { log, lines } = memoryLog();
    const outage = new OutageLog(log, 'it is back');
    outage.succeeded();
    for (let n = 0; n < 3; n++) outage.failed('it is down');
    outage.succeeded();
    outage.succeeded();
    expect(lines.map(({ msg }) => msg)).toEqual(['it is down; retrying until it works', 'it is back']);
  });

  it('is not ended by the success of an operation that started before it', async () => {
    const { log, lines } = memoryLog();
    const clock = new ManualClock();
    const outage = new OutageLog(log, 'it is back', clock);
    const before = clock.elapsedMs();
    await clock.advance(10);
    outage.failed('it is down');
    outage.succeeded(before);
    await clock.advance(2500);
    outage.failed('it is down');
    expect(lines).toHaveLength(1);
    outage.succeeded(clock.elapsedMs());
    expect(lines).toMatchObject([{ failures: 1 }, { failures: 2, seconds: 2.5, msg: 'it is back' }]);
  });

  it('has a reminder per minute', async () => {
    const { log, lines } = memoryLog();
    const clock = new ManualClock();
    const outage = new OutageLog(log, 'it is back', clock);
    for (let second = 0; second <= 120; second++) {
      outage.failed('it is down');
      await clock.advance(1000);
    }
    expect(lines).toMatchObject([{ failures: 1 }, { failures: 61 }, { failures: 121 }]);
  });
});
