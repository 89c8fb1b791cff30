import type { Changes } from './changes.js';
import type { AccountCommand, OpenAccountCommand, SeededAs } from './commands.js';
import { Account } from './entities.js';
import type { Ledger } from './ledger.js';
import { exact } from './units.js';

const FIRST_SEEDED: Record<SeededAs, number> = { account: 1e9, bot: 2e9 };

/** Opens accounts, deposits and withdraws USDC, stores credentials. */
export class AccountHandler {
  constructor(
    private readonly changes: Changes,
    private readonly ledger: Ledger,
  ) {}

  apply(command: AccountCommand): void {
    if (command.do === 'open-account') {
      this.#open(command);
      return;
    }
    const account = this.changes.state.accountAt(command.account);
    switch (command.do) {
      case 'deposit':
        this.#deposit(account, command.amount, command.at);
        break;
      case 'withdraw':
        this.#withdraw(account, command.amount, command.at);
        break;
      case 'set-key':
        this.#setKey(account, command.key);
        break;
      case 'set-code':
        account.credentials = { ...account.credentials, code: command.code };
        break;
      case 'block-key':
        account.credentials = { ...account.credentials, keyBlocked: true };
        break;
    }
  }

  #open(command: OpenAccountCommand): void {
    const { state } = this.changes;
    const number = state.accounts.length;
    const { email, username, passwordHash, otp, apiKey, at } = command;
    const credentials = { passwordHash, otp, apiKey, keyBlocked: false, code: null };
    const userId = state.ids.id('account', this.#idNumber(command.seededAs));
    const name = username ?? `trader-${number + 1}`;
    const account = new Account(number, userId, email, name, at, credentials, state.newHistories());
    state.addAccount(account);
    if (command.seededAs) state.seeded[command.seededAs].push(number);
    if (command.deposit > 0) this.#deposit(account, command.deposit, at);
  }

  /** The IDs of seeded accounts do not depend on how many other accounts were opened before them. */
  #idNumber(as: SeededAs | null): number {
    const { accounts, seeded } = this.changes.state;
    return as ? FIRST_SEEDED[as] + seeded[as].length : accounts.length;
  }

  #deposit(account: Account, amount: number, at: number): void {
    const { state } = this.changes;
    state.deposits = exact(state.deposits + amount);
    this.ledger.addFree(account, amount);
    this.changes.transaction(account, 'DEPOSIT', amount, at);
  }

  #withdraw(account: Account, amount: number, at: number): void {
    const { state } = this.changes;
    this.ledger.addFree(account, -amount);
    state.withdrawals = exact(state.withdrawals + amount);
    this.changes.transaction(account, 'WITHDRAWAL', amount, at);
  }

  #setKey(account: Account, key: Account['credentials']['apiKey']): void {
    const { accountsByKey } = this.changes.state;
    const { apiKey } = account.credentials;
    if (apiKey) accountsByKey.delete(apiKey.key);
    account.credentials = { ...account.credentials, apiKey: key };
    if (key) accountsByKey.set(key.key, account);
  }
}
