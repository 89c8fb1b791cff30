import { AccountHandler } from './account-handler.js';
import { Changes } from './changes.js';
import type { Command } from './commands.js';
import type { LiveOrder, MarketEvent, Tpsl } from './entities.js';
import { EventOpener } from './event-opener.js';
import { Ledger } from './ledger.js';
import { OrderHandler } from './order-handler.js';
import type { Outbox } from './outbox.js';
import { Settlement } from './settlement.js';
import type { State } from './state.js';
import { TpslHandler } from './tpsl-handler.js';
import type { OrderStatus } from './types.js';

/** What a command created or changed; its result is computed from it. */
export interface Applied {
  readonly order?: LiveOrder;
  readonly status?: OrderStatus;
  readonly tpsl?: Tpsl;
  readonly event?: MarketEvent;
}

/** Applies commands to a state, deterministically: the effect depends on the state and the command alone. */
export class Machine {
  readonly #changes: Changes;
  readonly #accounts: AccountHandler;
  readonly #events: EventOpener;
  readonly #orders: OrderHandler;
  readonly #tpsl: TpslHandler;
  readonly #settlement: Settlement;

  constructor(
    readonly state: State,
    outbox: Outbox,
  ) {
    this.#changes = new Changes(state, outbox);
    const ledger = new Ledger(this.#changes);
    this.#accounts = new AccountHandler(this.#changes, ledger);
    this.#events = new EventOpener(this.#changes);
    this.#orders = new OrderHandler(this.#changes, ledger);
    this.#tpsl = new TpslHandler(this.#changes, this.#orders);
    this.#settlement = new Settlement(this.#changes, ledger, this.#orders, this.#tpsl);
  }

  apply(command: Command): Applied {
    const applied = this.#apply(command);
    this.state.lastAt = command.at;
    this.#changes.flushBalances(command.at);
    return applied;
  }

  #apply(command: Command): Applied {
    switch (command.do) {
      case 'limit': {
        const order = this.#orders.limit(command);
        this.#tpsl.trigger(order.market, command.at);
        return { order };
      }
      case 'market': {
        const { order, status } = this.#orders.market(command);
        this.#tpsl.trigger(order.market, command.at);
        return { order, status };
      }
      case 'cancel':
        return { order: this.#orders.cancel(command.order, command.at) };
      case 'tpsl': {
        const tpsl = this.#tpsl.place(command);
        this.#tpsl.trigger(tpsl.market, command.at);
        return { tpsl };
      }
      case 'cancel-tpsl':
        return { tpsl: this.#tpsl.cancel(command.tpsl) };
      case 'open-event':
        return { event: this.#events.open(command) };
      case 'resolve': {
        const market = this.state.marketAt(command.market);
        this.#settlement.resolve(market, command.winner, command.at);
        return { event: market.event };
      }
      case 'configure':
        this.state.takerFeeBps = command.takerFeeBps;
        return {};
      default:
        this.#accounts.apply(command);
        return {};
    }
  }
}
