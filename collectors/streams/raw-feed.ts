import { RawStream } from '../../client/index.js';
import {
  type Clock,
  describeError,
  FRAME_TOO_LARGE,
  type Logger,
  OutageLog,
  STREAM_KINDS,
  type StreamRequest,
} from '../../core/index.js';
import type { CollectorEventWriter } from '../collector-event-writer.js';
import type { CollectorMetrics } from '../metrics.js';
import type { Publisher } from '../publisher.js';
import type { Recorder } from '../recorder.js';
import { oversizedRecord } from './oversized-record.js';

export interface RawFeedOptions {
  readonly name: string;
  readonly url: string;
  readonly publisher: Publisher;
  readonly collectorEvents: CollectorEventWriter;
  readonly metrics: CollectorMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  readonly reconnectCapMs?: number;
}

/** Records a feed for which the interface documents no endpoint (part 6.5), by address: every frame unchanged. */
export class RawFeed implements Recorder {
  readonly #stream: RawStream;
  readonly #outage: OutageLog;
  #requestJson = '{}';
  #paused = false;

  /** @throws AddressError */
  constructor(private readonly options: RawFeedOptions) {
    const { name: feed, url, collectorEvents, metrics, clock, reconnectCapMs } = options;
    const stream = 'feed';
    const kind = STREAM_KINDS[stream];
    this.#outage = new OutageLog(options.log, `feed ${feed} is connected again`, clock);
    this.#stream = new RawStream({
      url,
      clock,
      ...(reconnectCapMs === undefined ? {} : { reconnectCapMs }),
      onFrame: ({ connectionId, receivedAtMicros: receivedAt, completeUntilMicros, bodyJson, encoding, data }) => {
        collectorEvents.onComplete(connectionId, completeUntilMicros);
        metrics.frames.inc({ stream });
        metrics.frameBytes.inc({ stream }, data.length);
        const requestJson = this.#requestJson;
        this.#push({ kind, key: feed, receivedAt, requestJson, bodyJson, encoding });
      },
      onConnected: ({ connectionId, url: shown, atMicros }) => {
        const request: StreamRequest = { stream, connection: connectionId, feed };
        this.#requestJson = JSON.stringify(request);
        this.#outage.succeeded();
        metrics.connections.inc({ stream });
        void collectorEvents.write({ type: 'connected', stream, connectionId, url: shown }, atMicros);
        // There is no subscription: coverage begins with the connection.
        void collectorEvents.write({ type: 'subscribed', stream, connectionId, event: feed, markets: [] }, atMicros);
      },
      onDisconnected: ({ connectionId, cause: why, completeUntilMicros, oversized }) => {
        const cause = oversized ? FRAME_TOO_LARGE : why;
        if (oversized) {
          const record = oversizedRecord(oversized, { stream, connection: connectionId, feed });
          this.#push({ kind, key: feed, ...record });
        }
        metrics.connections.dec({ stream });
        metrics.disconnects.inc({ stream });
        void collectorEvents.write({ type: 'disconnected', stream, connectionId, cause }, completeUntilMicros);
      },
      onConnectFailed: ({ error }) => {
        // The address may contain a secret.
        const why = describeError(error).replaceAll(url, this.#stream.url);
        this.#outage.failed(`feed ${feed} cannot be connected: ${why}`);
      },
    });
  }

  start(): void {
    this.#stream.start();
  }

  stop(): Promise<void> {
    return this.#stream.close();
  }

  #push(received: Parameters<Publisher['push']>[0]): void {
    const { publisher } = this.options;
    if (publisher.push(received) || this.#paused) return;
    this.#paused = true;
    this.#stream.pause();
    void publisher.whenWritable().then(() => {
      this.#paused = false;
      this.#stream.resume();
    });
  }
}

/** The feeds of the setting `rawFeeds`, NAME=URL,NAME=URL: name → address. */
export function rawFeedsOf(setting: string | undefined): Map<string, string> {
  const entries = (setting ?? '').split(',').filter((entry) => entry !== '');
  return new Map(entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]));
}
