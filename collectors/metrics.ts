import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Metrics of a collector. Their names and labels are a public interface. */
export class CollectorMetrics {
  readonly frames: Counter<'stream'>;
  readonly frameBytes: Counter<'stream'>;
  readonly appended: Counter<'topic'>;
  readonly appendFailures: Counter;
  readonly queueBytes: Gauge;
  readonly paused: Counter;
  readonly subscriptions: Gauge<'stream'>;
  readonly connections: Gauge<'stream'>;
  readonly disconnects: Counter<'stream'>;
  readonly stale: Counter<'stream'>;
  readonly probes: Counter<'stream'>;
  readonly audits: Counter<'reason'>;
  readonly auditMismatches: Counter;
  readonly auditInterval: Histogram;
  readonly auditsWaiting: Gauge;
  readonly chanceHistoryInterval: Gauge;
  readonly requests: Counter<'operation' | 'status'>;
  readonly polls: Counter<'operation' | 'outcome'>;
  readonly walksBehind: Gauge<'operation'>;

  constructor(registry: Registry) {
    const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter<L>({ name: `chancery_collector_${name}_total`, help, labelNames, registers: [registry] });
    const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Gauge<L>({ name: `chancery_collector_${name}`, help, labelNames, registers: [registry] });
    this.frames = counter('frames', 'frames received', 'stream');
    this.frameBytes = counter('frame_bytes', 'bytes of frames received', 'stream');
    this.appended = counter('appended_records', 'records acknowledged by the bus', 'topic');
    this.appendFailures = counter('append_failures', 'appends that failed and were retried');
    this.queueBytes = gauge('queue_bytes', 'bytes received and not yet acknowledged by the bus');
    this.paused = counter('pauses', 'times that sockets were paused because the queue to the bus was full');
    this.subscriptions = gauge('subscriptions', 'events subscribed', 'stream');
    this.connections = gauge('connections', 'open connections', 'stream');
    this.disconnects = counter('disconnects', 'connections lost', 'stream');
    this.stale = counter('stale', 'subscriptions found stale', 'stream');
    this.probes = counter('probes', 'probes sent', 'stream');
    this.audits = counter('audits', 'comparisons of all prices of an event with the exchange', 'reason');
    this.auditMismatches = counter('audit_mismatches', 'markets whose prices were not equal in an audit');
    this.auditInterval = new Histogram({
      name: 'chancery_collector_audit_interval_seconds',
      help: 'time between an audit and the previous one of the same event in which its prices were equal',
      buckets: [10, 20, 30, 31, 35, 45, 60, 120, 300, 900, 3600],
      registers: [registry],
    });
    this.auditsWaiting = gauge('audits_waiting', 'audits that are due and wait because of --audits-per-second');
    this.chanceHistoryInterval = gauge(
      'chance_history_interval_seconds',
      'time between the last two requests of raw chance history of one event',
    );
    this.requests = counter('requests', 'responses to polls', 'operation', 'status');
    this.polls = counter('polls', 'finished polls', 'operation', 'outcome');
    this.walksBehind = gauge('walks_behind', 'account histories with records that were not read yet', 'operation');
  }
}
