import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { type Clock, systemClock } from '../../core/index.js';
import { WarehouseData } from '../../test/sql/warehouse-data.js';
import { runAs } from '../../test/support/run-as.js';
import { recordSeededMarket } from '../../test/viewer/seeded-market.js';
import { ViewerServer } from '../../viewer/index.js';
import { WarehouseRig } from '../warehouse-rig.js';

/** The market of the ticks that are drawn. */
export const marketOf = (ticks: number): string => `market-of-${ticks}`;
/** The time range of the ticks: one day. */
export const TICKS_FROM_MS = Date.UTC(2026, 0, 3);
export const TICKS_TO_MS = Date.UTC(2026, 0, 4);

/** A ClickHouse with the seeded market, and viewers of it. */
export class ViewerRig {
  readonly #warehouse = new WarehouseRig();
  readonly #viewers: ViewerServer[] = [];

  async start(): Promise<void> {
    await this.#warehouse.start();
    const run = (sql: string) => this.#asOwner(sql);
    await recordSeededMarket(new WarehouseData({ run, rows: () => Promise.reject(new Error('it is not asked')) }));
  }

  /** Ticks of one market, evenly over the day, whose price is a slow wave with noise. */
  async addTicks(ticks: number): Promise<void> {
    const step = (TICKS_TO_MS - TICKS_FROM_MS) / ticks;
    await this.#asOwner(
      `INSERT INTO price_ticks (_log, _partition, _offset, _index, received_at, event, market, last, bid, ask, source)
       SELECT 'log', 9, ${ticks} + number, 0, fromUnixTimestamp64Milli(toInt64(${TICKS_FROM_MS} + floor(number * ${step})), 'UTC'), 'bench', '${marketOf(ticks)}',
         round(50 + 30 * sin(number / ${ticks} * 9) + 8 * sin(number / ${ticks} * 170) + cityHash64(number) % 9 - 4) / 100 AS price, price - 0.01, price + 0.01, 'delta'
       FROM numbers(${ticks})`,
    );
  }

  /** Times and prices of all ticks of a market, as JSON. */
  ticksOf(ticks: number): Promise<string> {
    return this.#asOwner(
      `SELECT toUnixTimestamp64Milli(received_at), last FROM price_ticks WHERE market = '${marketOf(ticks)}' ORDER BY received_at, _offset FORMAT JSONCompactColumns
       SETTINGS output_format_json_quote_64bit_integers = 0`,
    );
  }

  /** Number of queries of the viewers that ClickHouse is running. */
  async running(): Promise<number> {
    const { reader } = this.#warehouse.endpoint;
    return Number(await this.#asOwner(`SELECT count() FROM system.processes WHERE user = '${reader.user}'`));
  }

  /** @param onQuery called for each query that this viewer sends, and not for those of others, whose pages may still be closing */
  async view(dashboards: string, nowMs?: () => number, onQuery = (): void => undefined): Promise<ViewerServer> {
    const { database } = this.#warehouse.settings;
    const clock: Clock = nowMs ? { ...systemClock, nowMs } : systemClock;
    const viewer = new ViewerServer({
      ...{ host: '127.0.0.1', port: 0, dashboards, databases: [database], log: this.#warehouse.log, clock },
      connect: () => Promise.resolve(this.#connect(database, onQuery)),
    });
    await viewer.start();
    this.#viewers.push(viewer);
    return viewer;
  }

  async close(): Promise<void> {
    for (const viewer of this.#viewers) await viewer.stop();
    await this.#warehouse.close();
  }

  #connect(database: string, onQuery: () => void) {
    const { url, user, password } = this.#warehouse.endpoint.reader;
    const login = { url, username: user, password: password.reveal(), database };
    const client = createClient({ ...login, log: { level: ClickHouseLogLevel.OFF } });
    const counted: ClickHouseClient['exec'] = (asked) => {
      onQuery();
      return client.exec(asked);
    };
    return {
      client: new Proxy(client, { get: (of, key) => (key === 'exec' ? counted : Reflect.get(of, key)) }),
      close: () => client.close(),
    };
  }

  #asOwner(sql: string): Promise<string> {
    const { owner } = this.#warehouse.endpoint;
    return runAs({ ...owner, url: `${owner.url}/?database=${this.#warehouse.settings.database}` }, sql);
  }
}
