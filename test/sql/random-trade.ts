import type { Random } from '../../core/index.js';
import { seen } from './account-data.js';
import { time, type Values } from './warehouse-data.js';

interface RandomTrade {
  readonly market: string;
  /** Seconds of `time`: when it was executed, and when it was read. */
  readonly at: number;
  readonly readAt: number;
  /** Of YES: the middle of the quotes, and half of their difference. */
  readonly price: number;
  readonly half: number;
  /** Number of users; some trade more than others. */
  readonly users: number;
  /** Maximum shares. */
  readonly maxShares: number;
}

/** The sum of two prices, in whole cents. */
export const plus = (price: number, change: number): number => Math.round((price + change) * 100) / 100;

/** A trade of the activity feed. */
export function randomTrade(
  { market, at, readAt, price, half, users, maxShares }: RandomTrade,
  random: Random,
): Values {
  const isYes = random.next() < 0.7;
  const side = random.next() < 0.55 ? 'BUY' : 'SELL';
  const yesPrice = (side === 'BUY') === isYes ? plus(price, half) : plus(price, -half);
  const user = `user-${1 + Math.floor(users * random.next() ** 2)}`;
  return {
    ...seen('', time(readAt), 'activity'),
    ...{ trade_record_id: `${market} ${at.toFixed(3)}`, user_id: user, username: user, market },
    ...{ position: isYes ? 'YES' : 'NO', is_primary: isYes, side, executed_at: time(at) },
    ...{
      quantity: String(1 + Math.floor(maxShares * random.next() ** 3)),
      price: String(isYes ? yesPrice : plus(1, -yesPrice)),
    },
  };
}
