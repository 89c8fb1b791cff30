import type { OpenPosition } from '../../client/index.js';
import { type AccountRow, answerColumns, exportedByAccount, field } from './account-row.js';
import {
  bool,
  decimal,
  lowCardinality,
  micros,
  nameOrEmpty,
  nullable,
  ratio,
  text,
  textOrEmpty,
  texts,
} from './column-types.js';
import { rowLogTable } from './row-table.js';

/** Open positions, one row per poll. */
export const positionObservations = rowLogTable<AccountRow<OpenPosition>>({
  name: 'position_observations',
  exported: exportedByAccount(['poll_id', 'asset']),
  columns: [
    ...answerColumns<OpenPosition>(),
    field('asset', lowCardinality, (it) => it.assetId),
    field('order_id', textOrEmpty, (it) => it.orderId),
    field('event', nameOrEmpty, (it) => it.eventId),
    field('market', nameOrEmpty, (it) => it.marketId),
    field('event_title', nullable(text), (it) => it.eventTitle),
    field('event_slug', nullable(text), (it) => it.eventSlug),
    field('event_icon_url', nullable(text), (it) => it.eventIconUrl),
    field('event_image_url', nullable(text), (it) => it.eventImageUrl),
    field('outcome_name', nullable(text), (it) => it.outcomeName),
    field('token_name', nullable(text), (it) => it.tokenName),
    field('is_primary', nullable(bool), (it) => it.primary),
    field('shares', decimal, (it) => it.totalShares),
    field('available_shares', nullable(decimal), (it) => it.availableShares),
    field('entry_price', nullable(ratio), (it) => it.entryPrice),
    field('cost', nullable(decimal), (it) => it.cost),
    field('current_price', nullable(ratio), (it) => it.currentPrice),
    field('value', nullable(decimal), (it) => it.currentValue),
    field('pnl', nullable(decimal), (it) => it.pnl),
    field('pnl_percent', nullable(ratio), (it) => it.pnlPercent),
    field('tpsl_orders', texts, (it) => it.tpslOrders.map((order) => order.tpslId)),
    field('opened_at', nullable(micros), (it) => it.openedAtMicros),
  ],
});
