import type { DecodedList, ValidationIssue } from '../../client/index.js';
import { entryTexts } from '../json/entry-texts.js';
import type { PriceTick } from '../tables/price-ticks.js';
import type { RowTable } from '../tables/row-table.js';

/** More dead letters than this of one record are counted in one, so that what a record costs is bounded. */
const MAX_DEAD_LETTERS = 100;
/** Longest payload of a dead letter, UTF-16 units. */
const MAX_PAYLOAD = 4096;

/** Part of a record that could not be understood. */
interface DeadLetter {
  /** Where in the record, like `d[3].b`; empty for the whole of it. */
  readonly jsonPath: string;
  readonly reason: string;
  /** The text of that part as it was received, cut after 4096 UTF-16 units. */
  readonly payload: string;
  /** Length of the text before it was cut. */
  readonly payloadLength: number;
}

/** What one record becomes: rows by table, and dead letters. A transform only ever adds to it. */
export class RecordOutput {
  readonly priceTicks: PriceTick[] = [];
  readonly #rows = new Map<RowTable<never>, unknown[]>();
  readonly #deadLetters: DeadLetter[] = [];
  #deadLetterCount = 0;
  #extraFields = 0;
  #exchangeErrors = 0;
  #bodyText = () => '';
  #body: unknown;

  /** @param quotes whether dead letters may quote the record; else they have no payload, and their reasons quote nothing */
  constructor(private readonly quotes = true) {}

  /** Sets the text of the record's body, as it was received. */
  about(bodyText: () => string): void {
    this.#bodyText = bodyText;
  }

  /** Sets what the body was parsed to, by `JSON.parse` or `parseLossless`: bad entries are looked for in it. */
  reads(body: unknown): void {
    this.#body = body;
  }

  /** Rows by table, apart from price ticks. */
  get tables(): Iterable<readonly [RowTable<never>, readonly unknown[]]> {
    return this.#rows;
  }

  rowsOf<Row>(table: RowTable<Row>): readonly Row[] {
    return (this.#rows.get(table) ?? []) as Row[];
  }

  /** All of them up to a bound, after which the last one says how many more there were. */
  get deadLetters(): readonly DeadLetter[] {
    const more = this.#deadLetterCount - this.#deadLetters.length;
    if (more === 0) return this.#deadLetters;
    const reason = `${more} more parts of this record could not be understood`;
    return [...this.#deadLetters, { jsonPath: '', reason, payload: '', payloadLength: this.#bodyText().length }];
  }

  /** How many fields were met that the interface does not name. */
  get extraFields(): number {
    return this.#extraFields;
  }

  /** How many error messages of the exchange were met. */
  get exchangeErrors(): number {
    return this.#exchangeErrors;
  }

  row<Row>(table: RowTable<Row>, row: Row): void {
    const rows = this.#rows.get(table);
    if (rows) rows.push(row);
    else this.#rows.set(table, [row]);
  }

  /** The part at `fault.path` was not understood; `payload` is its text. */
  dead({ path, reason }: ValidationIssue, payload: string): void {
    this.#deadLetterCount += 1;
    if (this.#deadLetters.length >= MAX_DEAD_LETTERS) return;
    this.#deadLetters.push({
      jsonPath: this.#quoted(path).slice(0, MAX_PAYLOAD),
      reason: this.#quoted(reason).slice(0, MAX_PAYLOAD),
      payload: this.quotes ? payload.slice(0, MAX_PAYLOAD) : '',
      payloadLength: payload.length,
    });
  }

  /** Entries of a list that were not understood. */
  deadEntries({
    invalidEntries,
    invalidEntriesOmitted,
  }: Pick<DecodedList<unknown>, 'invalidEntries' | 'invalidEntriesOmitted'>): void {
    const kept = invalidEntries.slice(0, MAX_DEAD_LETTERS - this.#deadLetters.length);
    const bodyText = kept.length > 0 ? this.#bodyText() : '';
    const texts = kept.length > 0 ? entryTexts(bodyText, this.#body, kept) : undefined;
    for (const entry of kept) this.dead(entry, texts?.get(entry) ?? bodyText);
    this.#deadLetterCount += invalidEntries.length - kept.length + invalidEntriesOmitted;
  }

  /** A text without what it quotes, when that must not be stored. */
  #quoted(text: string): string {
    return this.quotes ? text : text.replace(/".*"/s, '"…"');
  }

  countExtraFields(count: number): void {
    this.#extraFields += count;
  }

  countExchangeError(): void {
    this.#exchangeErrors += 1;
  }
}
