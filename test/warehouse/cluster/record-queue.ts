import type { Bus } from '../../../bus/index.js';
import { encodeEnvelope, RECORD_KINDS, type RecordKind } from '../../../core/index.js';

export interface Arrival {
  readonly key: string;
  /** Session of the collector. */
  readonly sessionId: string;
  /** Unix seconds. */
  readonly at: number;
  readonly req: object;
  readonly body: unknown;
}

/** Raw records with a collector's sequence numbers, until they are appended to the bus. */
export class RecordQueue {
  readonly #counts = new Map<string, number>();
  #waiting: { topic: string; key: string; value: Buffer }[] = [];

  constructor(private readonly bus: Bus) {}

  push(kind: RecordKind, { key, sessionId, at, req, body }: Arrival): void {
    const topic = RECORD_KINDS[kind];
    const position = `${topic}/${sessionId}`;
    const n = (this.#counts.get(position) ?? 0) + 1;
    this.#counts.set(position, n);
    const [reqJson, bodyJson] = [JSON.stringify(req), JSON.stringify(body)];
    const value = encodeEnvelope({
      kind,
      sessionId,
      sequence: n,
      receivedAt: Math.round(at * 1_000_000),
      requestJson: reqJson,
      bodyJson,
    });
    this.#waiting.push({ topic, key, value: Buffer.from(value) });
  }

  /** The last sequence number per topic, as in a heartbeat. */
  acknowledged(sessionId: string): Record<string, number> {
    const own = [...this.#counts].filter(([position]) => position.endsWith(`/${sessionId}`));
    return Object.fromEntries(own.map(([position, n]) => [position.slice(0, -sessionId.length - 1), n]));
  }

  async flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const topic of new Set(waiting.map((record) => record.topic))) {
      await this.bus.append(
        topic,
        waiting.filter((record) => record.topic === topic),
      );
    }
  }
}
