import { type AccountClient, type ActiveOrder, HttpStatusError, type OrderRecord } from '../client/index.js';
import type { TradingClient } from '../client/trading/index.js';
import { assetOf, type Quotes } from './market.js';
import type { OwnAccount } from './own-account.js';
import { centsOf, hundredthsOf } from './units.js';

/** How far back the order history is read for unknown active orders, pages of 100. */
const HISTORY_PAGES = 20;

interface ReconcileOptions {
  readonly own: OwnAccount;
  readonly account: AccountClient;
  readonly trading: TradingClient;
  readonly quotes: Quotes;
  readonly signal: AbortSignal;
}

/**
 * Brings a bot's view of its account in line with the exchange's lists: orders that are not active any more are removed,
 * unknown ones (of an earlier run, or of a placement without an answer) are added, or cancelled when their market cannot
 * be found. Rejects when the lists cannot be read.
 */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { own, account, signal } = options;
  const active = new Map<string, ActiveOrder>();
  for await (const page of account.walkActiveOrders({ signal })) {
    for (const order of page.items) active.set(order.orderId, order);
  }
  for (const orderId of [...own.orders.ids]) {
    const order = own.orders.byId(orderId);
    const seen = active.get(orderId);
    if (!order) continue;
    if (seen) order.remaining = hundredthsOf(seen.quantity);
    else own.orders.remove(order);
    active.delete(orderId);
  }
  if (active.size > 0) await adopt(active, options);
  await reconcileTpsl(options);
  own.reconciled();
}

async function adopt(unknown: Map<string, ActiveOrder>, options: ReconcileOptions): Promise<void> {
  const { account, trading, signal } = options;
  for await (const page of account.walkOrders({}, { signal, maxPages: HISTORY_PAGES })) {
    for (const record of page.items) {
      const order = unknown.get(record.orderId);
      if (order && addFromHistory(order, record, options)) unknown.delete(record.orderId);
    }
    if (unknown.size === 0) return;
  }
  for (const orderId of unknown.keys()) {
    await trading.cancelOrder(orderId, { signal }).catch((error: unknown) => {
      if (!(error instanceof HttpStatusError && error.status === 404)) throw error;
    });
  }
}

function addFromHistory(active: ActiveOrder, { assetId }: OrderRecord, { own, quotes }: ReconcileOptions): boolean {
  const market = assetId === null ? undefined : quotes.ofAsset(assetId);
  const { orderId, side, price, quantity } = active;
  if (!market || assetId === null || (side !== 'BUY' && side !== 'SELL') || price === null) return false;
  const outcome = assetId === assetOf(market, 'YES') ? 'YES' : 'NO';
  const { marketId } = market;
  const placed = { price: centsOf(price), remaining: hundredthsOf(quantity) };
  own.orders.add({ orderId, marketId, assetId, outcome, side, ...placed });
  return true;
}

/** TP/SL orders are listed with the positions whose shares they sell. */
async function reconcileTpsl({ own, account, signal }: ReconcileOptions): Promise<void> {
  const active = new Map<string, string>();
  for await (const page of account.walkOpenPositions({ signal })) {
    for (const { assetId, tpslOrders } of page.items) {
      for (const { tpslId } of tpslOrders) active.set(tpslId, assetId);
    }
  }
  for (const tpslId of own.tpsl.keys()) if (!active.has(tpslId)) own.tpsl.delete(tpslId);
  for (const [tpslId, assetId] of active) own.tpsl.set(tpslId, assetId);
}
