import type {
  ApiKey,
  AuthFailedEvent,
  ConnectedEvent,
  ConnectFailedEvent,
  DisconnectedEvent,
  ExchangeAddresses,
  ServerTime,
  StreamFrame,
} from '../../client/index.js';
import { type Logger, OutageLog, type StreamName } from '../../core/index.js';
import { FeedConnection } from './feed-connection.js';
import type { FeedParts } from './feed-protocol.js';

export interface PrivateFeedOptions extends FeedParts {
  readonly addresses: ExchangeAddresses;
  readonly apiKey: ApiKey;
  readonly serverTime: ServerTime;
  /** Configured name. */
  readonly account: string;
  readonly log: Logger;
  readonly reconnectCapMs?: number;
}

interface PrivateConnection {
  start(): void;
  pause(): void;
  resume(): void;
  reconnect(cause: string): void;
  close(): Promise<void>;
}

/**
 * Common to the private streams of an account: one connection with one subscription, to the account, which is live once
 * AUTH is accepted.
 */
export class PrivateFeed {
  readonly connection: FeedConnection;
  readonly #rejections: OutageLog;

  /** @param stream the client's stream, created with `handlers` */
  constructor(
    private readonly options: PrivateFeedOptions,
    about: { readonly stream: StreamName; readonly answerLagMicros: number },
    private readonly stream: () => PrivateConnection,
  ) {
    const { account, clock, log } = options;
    const recovered = `the ${about.stream} stream of account ${account} is open again`;
    this.#rejections = new OutageLog(log, recovered, clock);
    this.connection = new FeedConnection(options, {
      ...about,
      account,
      // These streams accept no requests.
      maxProbes: 0,
      probe: () => false,
      subscribe: () => undefined,
      unsubscribe: () => undefined,
      resubscribe: () => stream().reconnect('subscribed again'),
      pause: () => stream().pause(),
      resume: () => stream().resume(),
      reconnect: (cause) => stream().reconnect(cause),
      close: () => stream().close(),
    });
  }

  /** Options of the stream. */
  get handlers() {
    const { addresses, apiKey, serverTime, clock, account, reconnectCapMs } = this.options;
    return {
      addresses,
      apiKey,
      serverTime,
      clock,
      ...(reconnectCapMs === undefined ? {} : { reconnectCapMs }),
      onFrame: (frame: StreamFrame) => this.connection.onFrame(frame, account),
      onConnected: (event: ConnectedEvent) => this.connection.onConnected(event),
      onDisconnected: (event: DisconnectedEvent) => this.connection.onDisconnected(event),
      onConnectFailed: (event: ConnectFailedEvent) => this.connection.onConnectFailed(event),
      onAuthFailed: ({ error }: AuthFailedEvent) => this.#rejections.failed(`account ${account}: ${error.message}`),
    };
  }

  start(): void {
    this.connection.add(this.options.account, []);
    this.stream().start();
  }

  /** Call when AUTH was accepted. @param values the values in the response, as texts */
  authorized(values: ReadonlyMap<string, string>, atMicros: number): void {
    this.#rejections.succeeded();
    this.connection.monitor.onState(this.options.account, values, atMicros, true);
  }

  /** Call with each frame of a change: none of these streams sends the time of a change. */
  onChangeFrame(frame: StreamFrame): void {
    this.connection.monitor.onWaited(this.options.account, frame);
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}
