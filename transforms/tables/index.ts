import type { TableDefinition } from '../../warehouse/index.js';
import { categoryObservations } from './category-observations.js';
import { chanceHistoryPoints } from './chance-history-points.js';
import { chancePoints } from './chance-points.js';
import { coinObservations } from './coin-observations.js';
import { deadLetters } from './dead-letters.js';
import { eventObservations } from './event-observations.js';
import { lostRanges } from './lost-ranges.js';
import { marketObservations } from './market-observations.js';
import { marks } from './marks.js';
import { polls } from './polls.js';
import { priceTicks } from './price-ticks.js';
import { rawRecords } from './raw-records.js';
import { tagObservations } from './tag-observations.js';

/** Every table that transforms write: checked against the live tables before the first row. */
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
  marks.definition,
  polls.definition,
];
