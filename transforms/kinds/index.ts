import type { RecordKind } from '../../core/index.js';
import { transformChanceFrame } from './chance-frame.js';
import { transformChanceHistory } from './chance-history.js';
import { keepRaw } from './keep-raw.js';
import { transformMark } from './mark.js';
import { transformOrderBookFrame } from './order-book-frame.js';
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
  'reference.feed-frame': keepRaw,
  'account.orders': keepRaw,
  'account.trades': keepRaw,
  'account.positions': keepRaw,
  'account.active-orders': keepRaw,
  'account.activity': keepRaw,
  'account.transactions': keepRaw,
  'account.balances': keepRaw,
  'account.tpsl-orders': keepRaw,
  'account.profile-stats': keepRaw,
  'account.position-stats': keepRaw,
  'account.order-frame': keepRaw,
  'account.balance-frame': keepRaw,
  mark: transformMark,
};
