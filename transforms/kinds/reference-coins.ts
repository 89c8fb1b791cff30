import { decodeCoins } from '../../client/index.js';
import { coinObservations } from '../tables/coin-observations.js';
import { isValidId } from './ids.js';
import { listingsOf } from './listings.js';
import { integerOrDead, timeOrDead } from './optional-fields.js';
import type { Transform } from './transform.js';

/** The coins list (part 4.3) → `coin_observations`. */
export const transformCoins: Transform = (received, output) => {
  const answer = decodeCoins(received.body);
  if (!answer.ok) {
    output.dead(answer, received.bodyText());
    return;
  }
  const listingOf = listingsOf(received.record);
  for (const [number, wire] of answer.items.entries()) {
    if (!isValidId(wire.coinId, 'i', output)) continue;
    const coin = {
      ...wire,
      fullDecimals: integerOrDead(wire.fullDecimals, `coin ${wire.coinId} dpf`, output),
      displayDecimals: integerOrDead(wire.displayDecimals, `coin ${wire.coinId} dps`, output),
    };
    const usdRateAt = timeOrDead(wire.usdRateAt, `coin ${wire.coinId} urd`, output);
    output.row(coinObservations, { ...listingOf(number), coin, usdRateAt });
  }
  output.deadEntries(answer);
  output.countExtraFields(answer.extraFields.length);
};
