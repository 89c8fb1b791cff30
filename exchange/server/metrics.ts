import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Metrics of the exchange; one registry per running exchange. */
export class ExchangeMetrics {
  readonly registry = new Registry();
  readonly requests = new Counter({
    name: 'chancery_exchange_http_requests_total',
    help: 'REST and control requests answered, by route and status',
    labelNames: ['route', 'status'] as const,
    registers: [this.registry],
  });
  readonly sockets = new Gauge({
    name: 'chancery_exchange_stream_sockets',
    help: 'Open WebSocket connections, by stream',
    labelNames: ['stream'] as const,
    registers: [this.registry],
  });
  readonly frames = new Counter({
    name: 'chancery_exchange_stream_frames_total',
    help: 'Frames sent, by stream',
    labelNames: ['stream'] as const,
    registers: [this.registry],
  });
  readonly slowReaders = new Counter({
    name: 'chancery_exchange_slow_readers_total',
    help: 'Connections closed because the client read too slowly, by stream',
    labelNames: ['stream'] as const,
    registers: [this.registry],
  });
  readonly failures = new Counter({
    name: 'chancery_exchange_internal_errors_total',
    help: 'Requests and messages that failed with an internal error',
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }
}
