import { TOPICS } from '../../core/index.js';
import { TRANSFORM_TABLES } from '../../transforms/index.js';
import { compare, type Difference, emptyLedger, readLedger } from '../pipeline/ledger.js';
import { TABLE_ROWS } from '../pipeline/ledger-tables.js';
import type { Rig } from '../pipeline/rig.js';
import { digest, readAcknowledged } from './acknowledged.js';
import { compareRollups } from './rollups.js';
import { compareStates } from './states.js';
import { viewsWithoutAnswer } from './views.js';

export interface Audit {
  /** Records on the bus, and how many of them were appended again. */
  readonly records: number;
  readonly repeats: number;
  /** Records with a piece of a larger body. */
  readonly pieces: number;
  readonly acknowledged: number;
  /** Acknowledged records that are not on the bus, or with another body. */
  readonly lost: readonly string[];
  readonly tables: ReadonlyMap<string, Difference>;
  /** Rows of the materialized views' target tables, and of tables of aggregates, compared with those that their SELECTs return. */
  readonly states: ReadonlyMap<string, Difference>;
  /** Views that did not answer, or not with finite numbers, and why; empty where they were not asked. */
  readonly withoutAnswer: readonly string[];
}

/** Collects the records of all logs of the bus, and finally compares them with ClickHouse. */
export class Auditor {
  readonly #ledger = emptyLedger();
  readonly #bodies = new Map<string, string>();

  constructor(
    private readonly rig: Rig,
    private readonly acknowledgedFolder: string,
  ) {}

  /** Collects the records on the bus: before its logs are deleted, and at the end. */
  async readBus(topics: readonly string[] = Object.values(TOPICS)): Promise<void> {
    const pieces = new Map<string, string[]>();
    const onRecord = (topic: string, text: string) => {
      const [, sid, n] = /"sid":"([^"]+)","n":(\d+),/.exec(text) ?? [];
      const key = `${topic} ${sid} ${n}`;
      const body = text.slice(text.indexOf('"body":') + 7, -1);
      const [, i, of] = /"piece":\{"i":(\d+),"of":(\d+)\},"body":/.exec(text) ?? [];
      if (i === undefined) {
        this.#bodies.set(key, digest(body));
        return;
      }
      const texts = pieces.get(key) ?? [];
      pieces.set(key, texts);
      texts[Number(i)] = JSON.parse(body) as string;
      if (Object.keys(texts).length === Number(of)) this.#bodies.set(key, digest(texts.join('')));
    };
    for (const topic of topics) await readLedger(this.rig.bus, this.#ledger, { topic, onRecord });
  }

  async audit(): Promise<Audit> {
    const acknowledged = readAcknowledged(this.acknowledgedFolder);
    const lost = [...acknowledged].filter(([key, digested]) => this.#bodies.get(key) !== digested).map(([key]) => key);
    const tables = new Map<string, Difference>();
    for (const [table, sql] of Object.entries(TABLE_ROWS)) {
      const rows = await this.rig.rows<{ row: string }>(sql);
      const wanted = this.#ledger.rows.get(table) ?? new Set<string>();
      tables.set(
        table,
        compare(
          rows.map(({ row }) => row),
          wanted,
        ),
      );
    }
    for (const [table, difference] of await this.#others()) tables.set(table, difference);
    const { records, repeats, pieces } = this.#ledger;
    const states = await compareStates(this.rig);
    return { records, repeats, pieces, acknowledged: acknowledged.size, lost, tables, states, withoutAnswer: [] };
  }

  /** The same with the tables of aggregates, after everything is aggregated, and with the answers of all views. */
  async auditWithViews(): Promise<Audit> {
    const audit = await this.audit();
    const states = new Map([...audit.states, ...(await compareRollups(this.rig))]);
    return { ...audit, states, withoutAnswer: await viewsWithoutAnswer(this.rig) };
  }

  /** Tables that the ledger does not cover: each of their positions must occur once. */
  async #others(): Promise<Map<string, Difference>> {
    const others = new Map<string, Difference>();
    for (const { name, kind } of TRANSFORM_TABLES) {
      if (name in TABLE_ROWS || kind !== 'log') continue;
      const topic = TRANSFORM_TABLES.find((t) => t.name === name)?.columns.some((c) => c.name === '_topic');
      const position = `${topic ? '_topic, ' : ''}_log, toString(_partition), toString(_offset), toString(_index)`;
      const rows = await this.rig.rows<{ row: string }>(
        `SELECT concatWithSeparator('/', ${position}) AS row FROM ${name}`,
      );
      const found = rows.map(({ row }) => row);
      if (found.length > 0) others.set(name, compare(found, new Set(found)));
    }
    return others;
  }
}

/** Totals over all comparisons. */
export function totals({ tables, states, lost }: Audit) {
  const all = [...tables.values(), ...states.values()];
  const sum = (value: (difference: Difference) => number) => all.reduce((total, each) => total + value(each), 0);
  return {
    expected: sum((d) => d.expected),
    found: sum((d) => d.found),
    missing: sum((d) => d.counts.missing) + lost.length,
    duplicate: sum((d) => d.counts.duplicate) + sum((d) => d.counts.invented),
  };
}
