import { describe, expect, it } from 'vitest';
import { ALL_TABLES, tablesOf } from '../../datasets/tables.js';
import { TRANSFORM_TABLES } from '../../transforms/index.js';

const REQUEST = { format: 'parquet', candlePeriods: [60], unfinished: true, finishedAfterHours: 1 } as const;
const OF_ACCOUNTS =
  /^(active_order|balance|position|position_stats|profile|tpsl_order)_observations$|^(order|trade|transaction)_records$|^(balance|order)_updates$|^order_states$/;

describe('the tables of an export', () => {
  it('are all tables that transforms write', () => {
    const exported = new Set(ALL_TABLES.map(({ name }) => name));
    expect(TRANSFORM_TABLES.map(({ name }) => name).filter((name) => !exported.has(name))).toEqual([]);
  });

  it('include those about accounts only with --accounts', () => {
    const names = (accounts: readonly string[]) => tablesOf({ ...REQUEST, accounts }).map(({ name }) => name);
    const open = names([]);
    expect(open.filter((name) => OF_ACCOUNTS.test(name))).toEqual([]);
    const more = names(['mine']).filter((name) => !open.includes(name));
    expect(more.filter((name) => !OF_ACCOUNTS.test(name))).toEqual([]);
    expect(more).toHaveLength(12);
  });
});
