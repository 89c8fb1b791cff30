import type { Decimal } from '../../wire/decimal.js';
import type { LosslessJson } from '../../wire/json-number.js';
import { openPositionSchema, tpslOrderSchema } from '../../wire/order-records.js';
import type { DecodedList, InvalidBody } from '../result.js';
import { type TpslOrder, tpslOrderOf } from './orders.js';
import { decodeRecords, readRecord } from './records.js';

/** Shares of an asset that the account holds. Absent fields are null. */
export interface OpenPosition {
  readonly assetId: string;
  readonly orderId: string | null;
  readonly eventId: string | null;
  /** Also called event outcome ID. */
  readonly marketId: string | null;
  readonly eventTitle: string | null;
  readonly eventIconUrl: string | null;
  readonly eventSlug: string | null;
  readonly eventImageUrl: string | null;
  readonly outcomeName: string | null;
  readonly tokenName: string | null;
  /** True for the YES asset. */
  readonly primary: boolean | null;
  readonly totalShares: Decimal;
  readonly availableShares: Decimal | null;
  readonly entryPrice: Decimal | null;
  /** USDC. */
  readonly cost: Decimal | null;
  readonly currentPrice: Decimal | null;
  /** USDC. */
  readonly currentValue: Decimal | null;
  readonly tpslOrders: readonly TpslOrder[];
  /** USDC. */
  readonly pnl: Decimal | null;
  readonly pnlPercent: Decimal | null;
  readonly openedAtMicros: number | null;
}

/**
 * The list of `GET /api/history/deals/open-positions`, part 4.4. An invalid TP/SL order is an invalid entry with its
 * position's index; the position remains valid.
 */
export function decodeOpenPositions(body: LosslessJson): DecodedList<OpenPosition> | InvalidBody {
  return decodeRecords(body, openPositionSchema, (wire, { index, path, sink }): OpenPosition => {
    const tpslOrders: TpslOrder[] = [];
    for (const [n, value] of (wire.tpsl ?? []).entries()) {
      if (sink.invalid.skips(value)) continue;
      const order = readRecord(value, index, `${path}.tpsl[${n}]`, tpslOrderSchema);
      if (order.ok) {
        sink.extra.add(order.wire, tpslOrderSchema.shape, 'tpsl.');
        tpslOrders.push(tpslOrderOf(order.wire));
      } else sink.invalid.push(order.invalidEntry);
    }
    return {
      assetId: wire.ai,
      orderId: wire.oi ?? null,
      eventId: wire.ei ?? null,
      marketId: wire.eoi ?? null,
      eventTitle: wire.et ?? null,
      eventIconUrl: wire.eic ?? null,
      eventSlug: wire.es ?? null,
      eventImageUrl: wire.eim ?? null,
      outcomeName: wire.on ?? null,
      tokenName: wire.tn ?? null,
      primary: wire.ip ?? null,
      totalShares: wire.tsc,
      availableShares: wire.asc ?? null,
      entryPrice: wire.sp ?? null,
      cost: wire.c ?? null,
      currentPrice: wire.cp ?? null,
      currentValue: wire.v ?? null,
      tpslOrders,
      pnl: wire.pv ?? null,
      pnlPercent: wire.pp ?? null,
      openedAtMicros: wire.od ?? null,
    };
  });
}
