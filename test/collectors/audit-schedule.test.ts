import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CollectorMetrics } from '../../collectors/metrics.js';
import { type AuditCandidate, type AuditedConnection, AuditSchedule } from '../../collectors/streams/audit-schedule.js';
import { Subscription } from '../../collectors/streams/subscription.js';
import type { AuditReason } from '../../core/index.js';
import { ManualClock } from '../support/clocks.js';
import { metricOf } from './rig.js';

const AUDIT_MICROS = 30_000_000;

/** A connection whose probes are answered at once. */
class Connection implements AuditedConnection {
  readonly subscriptions: Subscription[];
  /** The audited events, in order. */
  readonly audited: string[] = [];
  /** Events whose audits find another value. */
  readonly unequal = new Set<string>();
  readonly suspect = new Set<string>();

  constructor(
    private readonly clock: ManualClock,
    private readonly schedule: AuditSchedule,
    events: number,
  ) {
    this.subscriptions = Array.from({ length: events }, (_, i) => {
      const subscription = new Subscription(`event ${i}`, ['m'], clock.nowMicros());
      subscription.confirm(new Map([['m', '0']]), clock.nowMicros());
      return subscription;
    });
    schedule.add(this);
  }

  *auditable(now: number): Iterable<AuditCandidate> {
    for (const subscription of this.subscriptions) {
      const { eventId, auditedAt = now } = subscription;
      if (this.suspect.has(eventId)) yield { connection: this, subscription, reason: 'difference' };
      if (now - auditedAt >= AUDIT_MICROS) yield { connection: this, subscription, reason: 'interval' };
    }
  }

  probe(subscription: Subscription, reason: AuditReason): boolean {
    const { eventId } = subscription;
    this.audited.push(eventId);
    if (reason === 'difference') this.suspect.delete(eventId);
    subscription.change('m', 'ours', this.clock.nowMicros());
    const theirs = this.unequal.has(eventId) ? 'theirs' : 'ours';
    const audit = subscription.compare(new Map([['m', theirs]]), this.clock.nowMicros(), reason);
    subscription.finishAudit();
    this.schedule.record(eventId, audit);
    return true;
  }

  /** Changes of an event, by its number. */
  changes(event: number, count: number): void {
    const subscription = this.subscriptions[event] as Subscription;
    for (let i = 0; i < count; i++) subscription.change('m', `change ${subscription.changes}`, this.clock.nowMicros());
  }
}

describe('the schedule of audits', () => {
  const clock = new ManualClock();
  let registry: Registry;
  let schedule: AuditSchedule;
  let connection: Connection;

  const start = (events: number, auditsPerSecond: number) => {
    schedule = new AuditSchedule({ clock, auditsPerSecond, metrics: new CollectorMetrics(registry) });
    connection = new Connection(clock, schedule, events);
  };
  const pass = (seconds: number, each: () => void = () => undefined) => {
    for (let i = 0; i < 4 * seconds; i++) {
      if (i % 4 === 0) each();
      clock.micros += 250_000;
      vi.advanceTimersByTime(250);
    }
  };

  beforeEach(() => {
    vi.useFakeTimers();
    registry = new Registry();
  });
  afterEach(() => {
    schedule.remove(connection);
    vi.useRealTimers();
  });

  it('audits each event at its interval while the rate allows', async () => {
    start(40, 20);
    pass(29);
    expect(connection.audited).toEqual([]);
    pass(4);
    expect(new Set(connection.audited).size).toBe(40);
    pass(270);
    expect(connection.audited.length).toBeGreaterThan(9 * 40);
    expect(connection.audited.length).toBeLessThanOrEqual(10 * 40);
    expect(await metricOf(registry, 'audits_waiting')).toBe(0);
  });

  it('never exceeds the rate, and audits all events equally often when all are alike', async () => {
    start(300, 2);
    pass(30);
    connection.audited.length = 0;
    pass(300);
    expect(connection.audited.length).toBeGreaterThan(590);
    expect(connection.audited.length).toBeLessThanOrEqual(604);
    expect(new Set(connection.audited).size).toBe(300);
    expect(await metricOf(registry, 'audits_waiting')).toBeGreaterThan(200);
  });

  it('audits the events with the most changes first, when more are due than the rate allows', () => {
    start(100, 2);
    for (let event = 0; event < 100; event++) connection.changes(event, event);
    pass(40);
    expect(connection.audited.slice(0, 6)).toEqual([99, 98, 97, 96, 95, 94].map((event) => `event ${event}`));
  });

  it('lets no event starve, however many changes others have', () => {
    start(100, 2);
    pass(400, () => {
      for (let event = 50; event < 100; event++) connection.changes(event, 20);
    });
    const counts = connection.subscriptions.map(
      ({ eventId }) => connection.audited.filter((id) => id === eventId).length,
    );
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(3);
  });

  it('audits an event whose changes were lost before others with as many changes', () => {
    start(60, 1);
    connection.unequal.add('event 30');
    pass(400, () => {
      for (let event = 0; event < 60; event++) connection.changes(event, 1);
    });
    const countOf = (event: number) => connection.audited.filter((id) => id === `event ${event}`).length;
    expect(countOf(30)).toBeGreaterThan(Math.max(countOf(29), countOf(31)));
  });

  it('audits a suspect event first, as long as suspicions are confirmed', () => {
    start(100, 1);
    connection.unequal.add('event 77');
    pass(200, () => connection.suspect.add('event 77'));
    expect(connection.audited.filter((id) => id === 'event 77').length).toBeGreaterThan(150);
  });

  it('audits suspect events after others where suspicions are never confirmed', () => {
    start(100, 1);
    pass(250, () => connection.suspect.add('event 77'));
    const counts = connection.subscriptions.map(
      ({ eventId }) => connection.audited.filter((id) => id === eventId).length,
    );
    expect(counts.filter((count) => count === 0)).toEqual([]);
  });

  it('publishes the intervals achieved', async () => {
    start(60, 1);
    pass(150);
    const histogram = await registry.getSingleMetricAsString('chancery_collector_audit_interval_seconds');
    const upTo = (seconds: number) => Number(new RegExp(`bucket\\{le="${seconds}"\\} (\\d+)`).exec(histogram)?.[1]);
    expect(upTo(20)).toBe(0);
    expect(upTo(31)).toBeGreaterThan(0);
    expect(upTo(120)).toBe(connection.audited.length);
  });
});
