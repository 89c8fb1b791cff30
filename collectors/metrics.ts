import { Counter, Gauge, type Registry } from 'prom-client';

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
  readonly reconnects: Counter<'stream'>;
  readonly stale: Counter<'stream'>;
  readonly probes: Counter<'stream'>;
  readonly requests: Counter<'operation' | 'status'>;
  readonly polls: Counter<'operation' | 'outcome'>;

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
    this.reconnects = counter('reconnects', 'connections lost', 'stream');
    this.stale = counter('stale', 'subscriptions found stale', 'stream');
    this.probes = counter('probes', 'probes sent', 'stream');
    this.requests = counter('requests', 'responses to polls', 'operation', 'status');
    this.polls = counter('polls', 'finished polls', 'operation', 'outcome');
  }
}
