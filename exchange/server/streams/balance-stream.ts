import { EXCHANGE_HOSTS } from '../../../core/index.js';
import { balances, balanceUpdate } from '../records/index.js';
import { PrivateStream } from './private-stream.js';

/** The balance updates stream, part 6.4: all balances after AUTH, then every change of one. */
export class BalanceStream extends PrivateStream {
  readonly path = EXCHANGE_HOSTS.balanceWs.path;
  readonly stream = 'balance';

  protected authResponse(userId: string): unknown {
    const { core } = this.options;
    const account = core.account(userId);
    if (!account) throw new Error('an authenticated account has no record');
    return { l: balances(account, core.usdcId) };
  }

  protected subscribe(): () => void {
    const { core } = this.options;
    return core.on('balance', (change) => this.publish(change.userId, () => balanceUpdate(change, core.usdcId)));
  }
}
