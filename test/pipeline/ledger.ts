import type { Bus } from '../../bus/index.js';
import { LedgerPieces } from './ledger-pieces.js';
import { type AddRow, addRaw, addRows, type Envelope, type Position, type Version } from './ledger-rows.js';

/** The expected rows by table, each as the text of its position and values, as in `TABLE_ROWS`. */
export type RowsByTable = Map<string, Set<string>>;

/** The expected rows of all records on a bus, computed independently with JSON.parse. */
export interface Ledger {
  readonly rows: RowsByTable;
  /** By table and ID: the expected row of those with this ID. */
  readonly latest: Map<string, { readonly row: string; readonly receivedAt: number }>;
  /** Records on the bus. */
  records: number;
  /** Duplicate records of a collector, which must have no rows. */
  repeats: number;
  /** Records with a piece of a larger body. */
  pieces: number;
}

export interface LedgerOptions {
  /** Only this topic; default all. */
  readonly topic?: string;
  /** Called with every record. */
  readonly onRecord?: (topic: string, text: string) => void;
}

export const emptyLedger = (): Ledger => ({ rows: new Map(), latest: new Map(), records: 0, repeats: 0, pieces: 0 });

/** Reads all topics of the bus, or one, and adds their records to the ledger. */
export async function readLedger(bus: Bus, ledger = emptyLedger(), options: LedgerOptions = {}): Promise<Ledger> {
  const last = new Map<string, number>();
  const add: AddRow = (table, row, version) => addRow(ledger, table, row, version);
  for (const { topic, partition, log, begin, end } of await bus.partitions()) {
    const pieces = new LedgerPieces();
    if (end === begin || (options.topic !== undefined && topic !== options.topic)) continue;
    for await (const batch of bus.read(topic, partition, begin, end - 1)) {
      for (let i = 0; i < batch.count; i++) {
        const text = batch.bytes.toString('utf8', batch.bounds[2 * i], batch.bounds[2 * i + 1]);
        const position: Position = { topic, log, partition, offset: batch.firstOffset + i };
        ledger.records += 1;
        options.onRecord?.(topic, text);
        const record = parsed(text);
        if (!record) {
          addRow(ledger, 'dead_letters', `${topic}/${log}/${partition}/${position.offset}/0`);
          continue;
        }
        const session = `${partition}/${topic}/${record.sid}`;
        const step = record.n + (record.piece?.i ?? 0) / 65_536;
        if (step <= (last.get(session) ?? 0)) {
          ledger.repeats += 1;
          continue;
        }
        last.set(session, step);
        if (record.piece) ledger.pieces += 1;
        addRaw(position, record, add);
        pieces.add(position, record, {
          whole: (joined) => addRows(position, joined, add),
          never: (at) => addRow(ledger, 'dead_letters', `${topic}/${log}/${partition}/${at}/0`),
        });
      }
    }
  }
  return ledger;
}

function addRow({ rows, latest }: Ledger, table: string, row: string, version?: Version): void {
  if (version) {
    const id = `${table} ${version.id}`;
    const former = latest.get(id);
    if (former && former.receivedAt > version.receivedAt) return;
    if (former) rows.get(table)?.delete(former.row);
    latest.set(id, { row, receivedAt: version.receivedAt });
  }
  const set = rows.get(table);
  if (set) set.add(row);
  else rows.set(table, new Set([row]));
}

function parsed(text: string): Envelope | undefined {
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    return undefined;
  }
}

/** Rows reported per fault. */
const MAX_REPORTED = 50;

export interface Difference {
  readonly expected: number;
  readonly found: number;
  /** The first faults, and the number of all. */
  readonly missing: readonly string[];
  readonly duplicate: readonly string[];
  readonly invented: readonly string[];
  readonly counts: { readonly missing: number; readonly duplicate: number; readonly invented: number };
}

/** Compares the found rows with the expected ones. */
export function compare(found: readonly string[], wanted: ReadonlySet<string>): Difference {
  const times = new Map<string, number>();
  for (const row of found) times.set(row, (times.get(row) ?? 0) + 1);
  const duplicate = [...times].filter(([, count]) => count > 1).map(([row]) => row);
  const missing = [...wanted].filter((row) => !times.has(row));
  const invented = [...times.keys()].filter((row) => !wanted.has(row));
  return {
    expected: wanted.size,
    found: found.length,
    missing: missing.slice(0, MAX_REPORTED),
    duplicate: duplicate.slice(0, MAX_REPORTED),
    invented: invented.slice(0, MAX_REPORTED),
    counts: { missing: missing.length, duplicate: found.length - times.size, invented: invented.length },
  };
}
