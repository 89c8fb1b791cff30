import { CATEGORY_SLUGS } from './catalog.js';
import type { Command, OpenAccountCommand, OpenEventCommand } from './commands.js';
import type { OpenAccountRequest, OpenEventRequest } from './core.js';
import type { Account } from './entities.js';
import { isAmount } from './order-checks.js';
import { type Checked, isRefused, type Refused, refuse } from './rejections.js';
import type { State } from './state.js';
import type { Outcome } from './types.js';
import { MAX_MONEY, usdcFromMicros } from './units.js';

const MAX_TEXT = 300;
const MAX_MARKETS = 50;
const MAX_TAGS = 20;
/** An event without `closesAt` closes a day after it opened. */
const DEFAULT_LIFETIME_MICROS = 86_400 * 1_000_000;

/** Checks requests of the operator and turns them into commands or rejections. Does not change the state. */
export class AdminChecks {
  constructor(private readonly state: State) {}

  openAccount(request: OpenAccountRequest, at: number): Checked<OpenAccountCommand> {
    const { email, username = null, passwordHash, otp = false, depositMicros: deposit } = request;
    if (this.state.accountsByEmail.has(email.toLowerCase())) {
      return refuse('email-taken', `${email} has an account already`);
    }
    const wrong = deposit === 0 ? undefined : this.#wrongDeposit(deposit);
    if (wrong) return wrong;
    const rest = { apiKey: null, seededAs: null };
    return { ok: true, command: { do: 'open-account', at, email, username, passwordHash, otp, deposit, ...rest } };
  }

  deposit(userId: string, amount: number, at: number): Checked<Command> {
    const account = this.account(userId);
    if (isRefused(account)) return account;
    const wrong = this.#wrongDeposit(amount);
    return wrong ?? { ok: true, command: { do: 'deposit', at, account: account.number, amount } };
  }

  withdraw(userId: string, amount: number, at: number): Checked<Command> {
    const account = this.account(userId);
    if (isRefused(account)) return account;
    if (!isAmount(amount)) return refuse('bad-amount', 'amount must be positive, in steps of 0.000001 USDC');
    if (amount > account.free) {
      return refuse(
        'insufficient-usdc',
        `${usdcFromMicros(amount)} USDC requested, ${usdcFromMicros(account.free)} free`,
      );
    }
    return { ok: true, command: { do: 'withdraw', at, account: account.number, amount } };
  }

  openEvent(request: OpenEventRequest, at: number): Checked<OpenEventCommand> {
    const { title, category, tags, featured = false, closesAt = at + DEFAULT_LIFETIME_MICROS, markets } = request;
    if (!isText(title)) return refuse('bad-event', `title must be 1 to ${MAX_TEXT} characters`);
    if (!CATEGORY_SLUGS.has(category)) return refuse('bad-event', `no category ${category}`);
    if (tags.length > MAX_TAGS || !tags.every(isText))
      return refuse('bad-event', `at most ${MAX_TAGS} tags, none empty`);
    if (markets.length < 1 || markets.length > MAX_MARKETS) return refuse('bad-event', `1 to ${MAX_MARKETS} markets`);
    if (!Number.isSafeInteger(closesAt)) return refuse('bad-event', 'closesAt must be Unix microseconds');
    for (const { name, chance } of markets) {
      if (!isText(name)) return refuse('bad-event', `market names must be 1 to ${MAX_TEXT} characters`);
      if (!(chance > 0 && chance < 1)) return refuse('bad-chance', 'chance must be between 0 and 1, both excluded');
    }
    const plain = markets.map(({ name, chance }) => ({ name, chance }));
    const fields = { title, category, tags: [...new Set(tags)], featured, closesAt, markets: plain };
    return { ok: true, command: { do: 'open-event', at, ...fields } };
  }

  resolve(eventId: string, marketId: string, winner: Outcome, at: number): Checked<Command> {
    const event = this.state.eventsById.get(eventId);
    if (!event) return refuse('unknown-event', `no event ${eventId}`);
    const market = this.state.marketsById.get(marketId);
    if (market?.event !== event) return refuse('unknown-market', `no market ${marketId} in this event`);
    if (market.resolved) return refuse('market-resolved', 'the market is resolved already');
    return { ok: true, command: { do: 'resolve', at, market: market.number, winner } };
  }

  account(userId: string): Account | Refused {
    return this.state.accountsById.get(userId) ?? refuse('unknown-account', `no account ${userId}`);
  }

  #wrongDeposit(amount: number): Refused | undefined {
    if (!isAmount(amount)) return refuse('bad-amount', 'amount must be positive, in steps of 0.000001 USDC');
    if (this.state.deposits + amount <= MAX_MONEY) return undefined;
    return refuse('bad-amount', `all deposits together may be ${usdcFromMicros(MAX_MONEY)} USDC`);
  }
}

const isText = (text: string): boolean => text.trim() !== '' && text.length <= MAX_TEXT;
