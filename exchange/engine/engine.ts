import { type Component, describeError, IntegrityError, Lifecycle } from '../../core/index.js';
import { AdminChecks } from './admin-checks.js';
import type { Command } from './commands.js';
import type {
  ExchangeCore,
  ExchangeEvents,
  ExchangeOptions,
  LimitRequest,
  MarketRequest,
  OpenAccountRequest,
  OpenEventRequest,
  Result,
  TpslRequest,
} from './core.js';
import type { Account } from './entities.js';
import { History } from './history.js';
import type { Applied } from './machine.js';
import { OrderChecks } from './order-checks.js';
import { Outbox } from './outbox.js';
import { ReadSide, type Running } from './read-side.js';
import { type Checked, isRefused, refuse } from './rejections.js';
import { seededAccountCommand } from './seeded-accounts.js';
import { Storage } from './storage.js';
import type {
  AccountView,
  ApiKeyRecord,
  Credentials,
  EventView,
  OrderView,
  Outcome,
  TpslView,
  TransactionView,
} from './types.js';
import { accountView, eventView } from './views.js';

/** The core of the exchange: validates commands, appends them to the journal, applies them and returns their results. */
export class Engine extends ReadSide implements ExchangeCore {
  readonly name = 'exchange';
  readonly #outbox = new Outbox();
  readonly #storage: Storage;
  readonly #components: Lifecycle;
  #running: Running | undefined;
  #failure: unknown;

  /** @param components those that use the engine: started once it is ready, stopped before it stops */
  constructor(
    private readonly options: ExchangeOptions,
    components: (core: ExchangeCore) => readonly Component[] = () => [],
  ) {
    super();
    this.#storage = new Storage(options.dataDir, options.log);
    this.#components = new Lifecycle(components(this));
  }

  async start(signal: AbortSignal): Promise<void> {
    const { seed, takerFeeBps, log } = this.options;
    try {
      const begin = { do: 'begin', at: Math.floor(this.options.clock.nowMicros()), seed, takerFeeBps } as const;
      const machine = await this.#storage.open(begin, this.#outbox);
      const { state } = machine;
      this.#outbox.unmute();
      this.#running = {
        machine,
        state,
        orderChecks: new OrderChecks(state),
        adminChecks: new AdminChecks(state),
        history: new History(state),
      };
      if (state.seed !== seed)
        log?.info({ seed: state.seed }, 'the data folder was created with another seed, which is used');
      if (state.takerFeeBps !== takerFeeBps) this.#execute({ do: 'configure', at: this.at(), takerFeeBps });
      this.#openSeededAccounts();
      this.#outbox.drain();
      await this.#components.start(signal);
      await this.durable();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#components.stop();
    await this.#storage.close(this.#failure === undefined ? this.#running?.state : undefined);
    this.#running = undefined;
  }

  durable(): Promise<void> {
    return this.#storage.durable();
  }

  on<K extends keyof ExchangeEvents>(event: K, listener: (value: ExchangeEvents[K]) => void): () => void {
    return this.#outbox.on(event, listener);
  }

  openEvent(request: OpenEventRequest): Result<EventView> {
    const checked = this.running.adminChecks.openEvent(request, this.at());
    return this.#run(checked, ({ event }) => eventView(made(event), this.at()));
  }

  resolveMarket(eventId: string, marketId: string, winner: Outcome): Result<EventView> {
    const checked = this.running.adminChecks.resolve(eventId, marketId, winner, this.at());
    return this.#run(checked, ({ event }) => eventView(made(event), this.at()));
  }

  openAccount(request: OpenAccountRequest): Result<AccountView> {
    const checked = this.running.adminChecks.openAccount(request, this.at());
    return this.#run(checked, () => accountView(this.running.state, made(this.running.state.accounts.at(-1))));
  }

  deposit(userId: string, amountMicros: number): Result<TransactionView> {
    const checked = this.running.adminChecks.deposit(userId, amountMicros, this.at());
    return this.#run(checked, () => made(this.transactions(userId, { page: 0, size: 1 }).items[0]));
  }

  withdraw(userId: string, amountMicros: number): Result<TransactionView> {
    const checked = this.running.adminChecks.withdraw(userId, amountMicros, this.at());
    return this.#run(checked, () => made(this.transactions(userId, { page: 0, size: 1 }).items[0]));
  }

  blockKey(userId: string): Result<null> {
    return this.#forAccount(userId, (account, at) => ({ do: 'block-key', at, account: account.number }));
  }

  setApiKey(userId: string, key: ApiKeyRecord | null): Result<null> {
    return this.#forAccount(userId, (account, at) => ({ do: 'set-key', at, account: account.number, key }));
  }

  setCode(userId: string, code: Credentials['code']): Result<null> {
    return this.#forAccount(userId, (account, at) => ({ do: 'set-code', at, account: account.number, code }));
  }

  placeLimit(request: LimitRequest): Result<OrderView> {
    const checked = this.running.orderChecks.limit(request, this.at());
    return this.#run(checked, ({ order }) => this.running.history.order(made(order)));
  }

  placeMarket(request: MarketRequest): Result<OrderView> {
    const checked = this.running.orderChecks.market(request, this.at());
    return this.#run(checked, ({ order }) => this.running.history.order(made(order)));
  }

  cancel(userId: string, orderId: string): Result<OrderView> {
    const number = this.running.state.ids.number('order', orderId);
    const order = number === undefined ? undefined : this.running.state.orders.get(number);
    if (order?.account.userId !== userId) return refuse('unknown-order', `no active order ${orderId}`);
    const command = { do: 'cancel', at: this.at(), order: order.number } as const;
    return this.#run({ ok: true, command }, ({ order }) => this.running.history.order(made(order)));
  }

  placeTpsl(request: TpslRequest): Result<TpslView> {
    const checked = this.running.orderChecks.tpsl(request, this.at());
    return this.#run(checked, ({ tpsl }) => this.running.history.tpslOrder(made(tpsl)));
  }

  cancelTpsl(userId: string, tpslId: string): Result<TpslView> {
    const number = this.running.state.ids.number('tpsl', tpslId);
    const tpsl = number === undefined ? undefined : this.running.state.tpsl.get(number);
    if (tpsl?.account.userId !== userId) return refuse('unknown-tpsl', `no active TP/SL order ${tpslId}`);
    const command = { do: 'cancel-tpsl', at: this.at(), tpsl: tpsl.number } as const;
    return this.#run({ ok: true, command }, () => this.running.history.tpslOrder(tpsl));
  }

  protected get counts(): { readonly accounts: number; readonly bots: number } {
    return this.options;
  }

  protected get running(): Running {
    if (!this.#running) throw new Error('the exchange is not running');
    return this.#running;
  }

  protected at(): number {
    return Math.max(Math.floor(this.options.clock.nowMicros()), this.running.state.lastAt);
  }

  #forAccount(userId: string, make: (account: Account, at: number) => Command): Result<null> {
    const account = this.running.adminChecks.account(userId);
    if (isRefused(account)) return account;
    return this.#run({ ok: true, command: make(account, this.at()) }, () => null);
  }

  /** Stores and applies a valid command; its result is computed before the listeners run. */
  #run<T>(checked: Checked<Command>, answer: (applied: Applied) => T): Result<T> {
    if (!checked.ok) return checked;
    const value = answer(this.#execute(checked.command));
    this.#outbox.drain();
    return { ok: true, value };
  }

  #execute(command: Command): Applied {
    if (this.#failure !== undefined) throw this.#failure;
    this.#storage.append(command);
    try {
      return this.running.machine.apply(command);
    } catch (error) {
      this.#failure = new IntegrityError(
        `the exchange stopped at a command it could not apply: ${describeError(error)}`,
        {
          cause: error,
        },
      );
      throw this.#failure;
    }
  }

  #openSeededAccounts(): void {
    const { seed, ids, seeded } = this.running.state;
    const wanted = { account: this.options.accounts, bot: this.options.bots };
    for (const as of ['account', 'bot'] as const) {
      while (seeded[as].length < wanted[as]) {
        this.#execute(seededAccountCommand(seed, ids, as, seeded[as].length, this.at()));
      }
    }
  }
}

/** A result that every command of this kind has. */
function made<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a command returned without its result');
  return value;
}
