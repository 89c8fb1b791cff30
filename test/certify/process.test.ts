import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { certify, MARKET } from './command.js';
import { KeptRun, statementsOf } from './kept-run.js';

/** Gaps after the collector was killed. */
const KILLED = "cause = 'no further heartbeat of the collector'";

const collectorOf = (folder: string): number => {
  const entry = readdirSync(join(folder, 'run')).find((name) => name.startsWith('collect-'));
  return Number(entry?.replace(/\D/g, ''));
};

describe('chancery certify', () => {
  test('refuses the certificate for a broken view, a lost or duplicated row, a wrong fee, and a removed gap', async () => {
    const folder = join(temporaryFolder(), 'kept');
    const run = certify('--minutes', '0.35', '--no-faults', '--keep', folder, ...MARKET);
    await run.said('recording for');
    const recordedFrom = Date.now() * 1000;
    const statement = await statementsOf(folder);
    // The view has every other position only.
    const definition = (await statement('SHOW CREATE VIEW positions FORMAT TSVRaw')).replace('VIEW', 'OR REPLACE VIEW');
    await statement(`${definition} WHERE cityHash64(asset) % 2 = 0`);
    const begins = `received_at > fromUnixTimestamp64Micro(${recordedFrom + 2_000_000})`;
    // The collector is killed when it has been alive for a while after a change, which is outside of the gap then.
    const alive = 'SELECT max(last_heartbeat_at) - INTERVAL 3 SECOND FROM sessions';
    const recorded = `SELECT (SELECT count() FROM price_ticks WHERE source = 'delta' AND ${begins} AND received_at < (${alive})) > 0
        AND (SELECT count() FROM chance_points WHERE source = 'change' AND ${begins}) > 0`;
    await until(async () => (await statement(recorded)).trim() === '1');
    process.kill(collectorOf(folder), 'SIGKILL');
    const kills = [{ service: 'collect', at: Date.now() * 1000 }];
    await run.said('closing trading');
    const closedAt = Date.now() * 1000;
    const { code, out, err } = await run.ended;
    // Since then nothing is recorded.
    kills.push({ service: 'collect', at: Date.now() * 1000 });
    expect(out, err).toMatch(/^positions +[\d,]+ +[\d,]+ +0 +[1-9]/m);
    expect(out).toContain('NOT certified');
    expect(code).toBe(1);

    const kept = await KeptRun.start({ folder, events: MARKET[1] ?? '', recordedFrom, closedAt, kills });
    await kept.statement(definition);
    expect(await kept.unexplained()).toEqual(new Map());
    // By chance: whether trading lasted for longer than the markouts, a market was resolved, two bids added up to more than 1, and a
    // period was without a gap.
    const byChance = /: markout_(1|5)m$|^chance candles|^times of (resolutions|arbitrage)|^longshots/;
    expect((await kept.unnoticed()).filter((one) => !byChance.test(one))).toEqual([]);
    // The change that is farthest from all gaps of its event: one that is lost in or beside a gap is explained by it.
    const row = await kept.statement(`
        WITH
          (SELECT groupArray((event, toUnixTimestamp64Micro(begins_at), toUnixTimestamp64Micro(ends_at))) FROM gaps WHERE stream = 'order-book') AS missed,
          toUnixTimestamp64Micro(toDateTime64(received_at, 6, 'UTC')) AS at
        SELECT market, _partition, _offset, _index FROM price_ticks WHERE source = 'delta' AND ${begins}
        ORDER BY arrayMin(arrayMap(gap -> greatest(gap.2 - at, at - gap.3), arrayFilter(gap -> gap.1 = event, missed))) DESC, market
        LIMIT 1 FORMAT Values`);
    await kept.statement(`ALTER TABLE price_ticks DELETE WHERE (market, _partition, _offset, _index) = ${row}`);
    await kept.duplicate('chance_points', `source = 'change' AND ${begins}`);
    await kept.duplicate('price_ticks', `source = 'snapshot' AND ${begins}`);
    const trade = await kept.statement(
      'SELECT account, trade_record_id FROM trade_records WHERE fee > 0 ORDER BY trade_record_id LIMIT 1 FORMAT Values',
    );
    await kept.statement(`ALTER TABLE trade_records UPDATE fee = assumeNotNull(fee) + toDecimal128('0.000001', 12)
      WHERE (account, trade_record_id) = ${trade}`);
    // A change by hand is not noticed: what the worker has computed from the trades would still count.
    for (const table of ['position_states', 'own_volumes']) await kept.statement(`TRUNCATE TABLE ${table}`);
    const altered = await kept.unexplained();
    const [lost, duplicate, wrongFee] = ['price changes', 'live chance points', 'trades of accounts'];
    expect([lost, duplicate, wrongFee, 'profit and loss'].map((name = '') => altered.get(name))).toEqual([1, 1, 1, 1]);
    expect(altered.get('seconds with lost changes')).toBe(1);
    // The lost change, and the duplicate state.
    expect(altered.get('rows of order book frames')).toBe(2);
    await kept.restrict('gaps', `NOT (${KILLED})`);
    expect((await kept.unexplained()).get('seconds with lost changes')).toBeGreaterThan(1);
  });

  test.each([
    [['--against', 'http://127.0.0.1:1'], '--against needs --control-token-file or --control-token'],
    [['--control-token', 'x'], '--control-token, --control-token-file and --accounts-file belong to --against URL'],
    [['--minutes', '0'], '--minutes is "0": it must be a number above 0 and up to 1440'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await certify(...args).ended;
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});
