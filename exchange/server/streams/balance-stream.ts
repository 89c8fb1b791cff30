import { balances, balanceUpdate } from '../records/index.js';
import { PrivateStream } from './private-stream.js';

/** The balance updates stream, part 6.4: all balances after AUTH, then each one that changes. */
export class BalanceStream extends PrivateStream {
  readonly path = '/balance/ws';
  readonly stream = 'balance';

  protected greeting(userId: string): unknown {
    const { core } = this.options;
    const account = core.account(userId);
    if (!account) throw new Error('an account without a record was let in');
    return { l: balances(account, core.usdcId) };
  }

  protected follow(): () => void {
    const { core } = this.options;
    return core.on('balance', (change) => this.publish(change.userId, () => balanceUpdate(change, core.usdcId)));
  }
}
