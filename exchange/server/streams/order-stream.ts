import { EXCHANGE_HOSTS } from '../../../core/index.js';
import type { OrderUpdate, TpslView } from '../../engine/index.js';
import { tpslUpdate } from '../records/index.js';
import { PrivateStream, type PrivateStreamOptions } from './private-stream.js';

/** The order updates stream, part 6.3: orders that were placed or failed, and changes of TP/SL orders. */
export class OrderStream extends PrivateStream {
  readonly path = EXCHANGE_HOSTS.orderWs.path;
  readonly stream = 'orders';
  readonly heartbeat?: { readonly frame: Buffer; readonly everyMs: number };

  constructor(options: PrivateStreamOptions & { readonly heartbeatSeconds: number | undefined }) {
    super(options);
    if (options.heartbeatSeconds !== undefined) {
      this.heartbeat = { frame: this.frame({ t: 'PING', d: null, r: null }), everyMs: options.heartbeatSeconds * 1000 };
    }
  }

  protected authResponse(): string {
    return 'authorized';
  }

  protected subscribe(): () => void {
    const { core } = this.options;
    const stops = [
      core.on('orderUpdate', (update) => this.#onOrder(update)),
      core.on('tpsl', (tpsl) => this.#onTpsl(tpsl)),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Fills and cancellations have no message on this stream: they show in the history and on the balance stream. */
  #onOrder({ order, cause }: OrderUpdate): void {
    if (cause !== 'placed' && cause !== 'failed') return;
    const { userId, orderId, eventId } = order;
    const s = cause === 'placed' ? 'SUCCESS' : 'FAILED';
    this.publish(userId, () => ({ t: 'ORDER_UPDATE', d: { i: orderId, u: userId, s }, r: null }), eventId);
  }

  #onTpsl(tpsl: TpslView): void {
    this.publish(tpsl.userId, () => ({ t: 'TPSL_UPDATE', d: tpslUpdate(tpsl), r: null }), tpsl.eventId);
  }
}
