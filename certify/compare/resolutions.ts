import { type Comparison, compareRows, type KeyedRow, notCompared } from '../comparison.js';
import type { RecordedAccounts } from '../recorded.js';
import type { Ledger } from '../truth.js';
import { unlistedOf } from '../unlisted.js';

const NAME = 'resolutions';

/** How each market that event search listed was resolved. */
export function compareResolutions(ledger: Ledger, recorded: RecordedAccounts): Comparison {
  const { markets: unlisted } = unlistedOf(ledger, recorded);
  const listed = ledger.markets.filter(({ marketId }) => !unlisted.has(marketId));
  if (listed.length === 0) return notCompared(NAME, 'event search listed no market');
  const compared = compareRows(
    NAME,
    listed.map(({ marketId, resolved }): KeyedRow => [marketId, resolved?.toLowerCase() ?? 'unresolved']),
    recorded.resolutions.flatMap(({ key: [market = ''], value: [resolution = ''] }): KeyedRow[] =>
      unlisted.has(market) ? [] : [[market, resolution]],
    ),
  );
  const why = `${unlisted.size} markets whose events closed before recording began`;
  return unlisted.size === 0 ? compared : { ...compared, notCompared: why };
}
