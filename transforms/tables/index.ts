import type { TableDefinition } from '../../warehouse/index.js';
import { accountPages } from './account-pages.js';
import { activeOrderObservations } from './active-order-observations.js';
import { activityRecords } from './activity-records.js';
import { auditMismatches, audits } from './audits.js';
import { balanceObservations } from './balance-observations.js';
import { balanceUpdates } from './balance-updates.js';
import { categoryObservations } from './category-observations.js';
import { chanceHistoryPoints } from './chance-history-points.js';
import { chancePoints } from './chance-points.js';
import { coinObservations } from './coin-observations.js';
import { collectorEvents } from './collector-events.js';
import { deadLetters } from './dead-letters.js';
import { eventObservations } from './event-observations.js';
import { lostRanges } from './lost-ranges.js';
import { marketObservations } from './market-observations.js';
import { orderRecords } from './order-records.js';
import { orderUpdates } from './order-updates.js';
import { polls } from './polls.js';
import { positionObservations } from './position-observations.js';
import { priceTicks } from './price-ticks.js';
import { positionStatsObservations, profileObservations } from './profile-observations.js';
import { rawRecords } from './raw-records.js';
import { tagObservations } from './tag-observations.js';
import { tpslOrderObservations } from './tpsl-order-observations.js';
import { tradeRecords } from './trade-records.js';
import { transactionRecords } from './transaction-records.js';

/** Every record has a row in one of these, unless it is a repeated copy or lost with others in one row. */
export const RECORD_TABLES: readonly TableDefinition[] = [rawRecords, deadLetters.definition, lostRanges.definition];

/** All tables that transforms write; they are compared with the live tables before the first row. */
export const TRANSFORM_TABLES: readonly TableDefinition[] = [
  rawRecords,
  deadLetters.definition,
  lostRanges.definition,
  priceTicks,
  chancePoints.definition,
  chanceHistoryPoints.definition,
  eventObservations.definition,
  marketObservations.definition,
  categoryObservations.definition,
  tagObservations.definition,
  coinObservations.definition,
  collectorEvents.definition,
  polls.definition,
  audits.definition,
  auditMismatches.definition,
  accountPages.definition,
  activeOrderObservations.definition,
  activityRecords.definition,
  balanceObservations.definition,
  balanceUpdates.definition,
  orderRecords.definition,
  orderUpdates.definition,
  positionObservations.definition,
  positionStatsObservations.definition,
  profileObservations.definition,
  tpslOrderObservations.definition,
  tradeRecords.definition,
  transactionRecords.definition,
];
