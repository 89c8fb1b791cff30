import { Counter, Gauge, type Registry } from 'prom-client';
import type { BuiltBatch } from '../batch/batch-builder.js';

/** Metrics of a worker. Their names and labels are a public interface. */
export class TransformMetrics {
  readonly #records: Counter<'topic'>;
  readonly #duplicates: Counter<'topic'>;
  readonly #deadLetters: Counter<'topic'>;
  readonly #payloadsOmitted: Counter<'topic'>;
  readonly #extraFields: Counter<'topic'>;
  readonly #exchangeErrors: Counter<'topic'>;
  readonly #rows: Counter<'table'>;
  readonly #bytes: Counter<'table'>;
  readonly #batches: Counter<'topic'>;
  readonly #lastReceivedAt = new Map<string, number>();
  /** Recovered batches: ClickHouse did not confirm them, or another worker had begun them. */
  readonly recovered: Counter<'topic'>;

  /**
   * @param lag records on the bus that are not in ClickHouse yet, by topic
   * @param nowMicros Unix microseconds
   */
  constructor(registry: Registry, lag: () => Promise<ReadonlyMap<string, number>>, nowMicros: () => number) {
    const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter<L>({ name: `chancery_transform_${name}_total`, help, labelNames, registers: [registry] });
    this.#records = counter('records', 'raw records transformed and written', 'topic');
    this.#duplicates = counter('duplicates', 'raw records that were on the bus twice and were dropped', 'topic');
    this.#deadLetters = counter('dead_letters', 'dead letters written', 'topic');
    this.#payloadsOmitted = counter(
      'dead_letters_without_payload',
      'dead letters written without a payload: more than 1000 of one reason in a batch',
      'topic',
    );
    this.#extraFields = counter('extra_fields', 'fields that the interface does not name', 'topic');
    this.#exchangeErrors = counter('exchange_errors', 'error messages of the exchange', 'topic');
    this.#rows = counter('rows', 'rows written', 'table');
    this.#bytes = counter('bytes', 'bytes of rows written', 'table');
    this.#batches = counter('batches', 'batches written', 'topic');
    this.recovered = counter('recovered_batches', 'batches recovered after a failure', 'topic');
    new Gauge<'topic'>({
      name: 'chancery_transform_lag_records',
      help: 'consumer lag: records on the bus that are not in ClickHouse yet',
      labelNames: ['topic'],
      registers: [registry],
      async collect() {
        for (const [topic, records] of await lag()) this.set({ topic }, records);
      },
    });
    const lastReceivedAt = this.#lastReceivedAt;
    new Gauge<'topic'>({
      name: 'chancery_transform_freshness_seconds',
      help: 'age of the newest record that this worker wrote, by receive time',
      labelNames: ['topic'],
      registers: [registry],
      collect() {
        for (const [topic, at] of lastReceivedAt) this.set({ topic }, (nowMicros() - at) / 1e6);
      },
    });
  }

  written(topic: string, { blocks, stats }: BuiltBatch): void {
    this.#records.inc({ topic }, stats.records);
    this.#duplicates.inc({ topic }, stats.duplicates);
    this.#deadLetters.inc({ topic }, stats.deadLetters);
    this.#payloadsOmitted.inc({ topic }, stats.payloadsOmitted);
    this.#extraFields.inc({ topic }, stats.extraFields);
    this.#exchangeErrors.inc({ topic }, stats.exchangeErrors);
    this.#batches.inc({ topic });
    for (const { table, rows, body } of blocks) {
      this.#rows.inc({ table: table.name }, rows);
      this.#bytes.inc({ table: table.name }, body.length);
    }
    if (stats.lastReceivedAt === 0) return;
    this.#lastReceivedAt.set(topic, Math.max(this.#lastReceivedAt.get(topic) ?? 0, stats.lastReceivedAt));
  }
}
