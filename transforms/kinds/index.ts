import type { RecordKind } from '../../core/index.js';
import { transformActivity } from './account-activity.js';
import { transformBalanceFrame } from './account-balance-frame.js';
import { transformOrderFrame } from './account-order-frame.js';
import { transformActiveOrders, transformOrders } from './account-orders.js';
import { transformPositions } from './account-positions.js';
import { transformPositionStats, transformProfileStats } from './account-stats.js';
import { transformTpslOrders } from './account-tpsl-orders.js';
import { transformTrades } from './account-trades.js';
import { transformBalances, transformTransactions } from './account-wallet.js';
import { transformChanceFrame } from './chance-frame.js';
import { transformChanceHistory } from './chance-history.js';
import { transformCollectorEvent } from './collector-event.js';
import { transformOrderBookFrame } from './order-book-frame.js';
import { rawOnly } from './raw-only.js';
import { transformCategories } from './reference-categories.js';
import { transformCoins } from './reference-coins.js';
import { transformEventPage } from './reference-events.js';
import { transformTags } from './reference-tags.js';
import type { Transform } from './transform.js';

/** The transform of every record kind. */
export const TRANSFORMS: Readonly<Record<RecordKind, Transform>> = {
  'order-book.frame': transformOrderBookFrame,
  'chance.frame': transformChanceFrame,
  'chance.history': transformChanceHistory,
  'reference.events': transformEventPage,
  'reference.categories': transformCategories,
  'reference.tags': transformTags,
  'reference.coins': transformCoins,
  'reference.feed-frame': rawOnly,
  'account.orders': transformOrders,
  'account.trades': transformTrades,
  'account.positions': transformPositions,
  'account.active-orders': transformActiveOrders,
  'account.activity': transformActivity,
  'account.transactions': transformTransactions,
  'account.balances': transformBalances,
  'account.tpsl-orders': transformTpslOrders,
  'account.profile-stats': transformProfileStats,
  'account.position-stats': transformPositionStats,
  'account.order-frame': transformOrderFrame,
  'account.balance-frame': transformBalanceFrame,
  'collector.event': transformCollectorEvent,
};
