import type { InvalidEntry, ValidationIssue } from '../../client/index.js';
import { type EntryText, entryTexts } from '../json/entry-texts.js';
import { jsonPrefix } from '../json/json-prefix.js';
import { blank, type RepeatedName } from '../json/repeated-names.js';
import type { PriceTick } from '../tables/price-ticks.js';
import type { RowTable } from '../tables/row-table.js';

/** More dead letters than this of one record are told in one line: what a record costs stays bounded. */
const MOST_DEAD_LETTERS = 100;
/** Longest payload that a dead letter keeps, UTF-16 units. */
const MOST_PAYLOAD = 4096;

/** Part of a record that could not be understood. */
export interface DeadLetter {
  /** Where in the record, like `d[3].b`; empty for the whole of it. */
  readonly place: string;
  readonly reason: string;
  /** What came, character for character, cut after 4096. */
  readonly payload: string;
  /** Length of what came before it was cut. */
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
  /** By where they are; taken out when they are told of. */
  readonly #repeated = new Map<string, RepeatedName>();

  /** @param quotes whether dead letters may hold what came; else they have no payload, and their texts quote nothing */
  constructor(private readonly quotes = true) {}

  /** Says what the record's body is, as it came. */
  about(bodyText: () => string): void {
    this.#bodyText = bodyText;
  }

  /** Says which objects of the body name something twice: none of them is believed, each becomes a dead letter. */
  repeats(names: readonly RepeatedName[]): void {
    for (const name of names) this.#repeated.set(name.path, name);
  }

  /**
   * Says what the body was parsed to, by `JSON.parse` or `parseLossless`, before rows are made of it. Objects that name
   * something twice become null in it.
   */
  reads(body: unknown): void {
    this.#body = body;
    blank(body, [...this.#repeated.values()]);
  }

  /** Adds the dead letters of objects that name something twice where rows were made without missing them. */
  finish(): void {
    const invalidEntries = [...this.#repeated.values()].map((fault) => ({ ...fault, index: 0, value: null }));
    if (invalidEntries.length > 0) this.deadEntries({ invalidEntries, invalidEntriesOmitted: 0 });
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
    return [...this.#deadLetters, { place: '', reason, payload: '', payloadLength: this.#bodyText().length }];
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
  dead(fault: ValidationIssue, payload: string, payloadLength = payload.length): void {
    this.#deadLetterCount += 1;
    if (this.#deadLetters.length >= MOST_DEAD_LETTERS) return;
    const { path, reason } = this.#repeated.get(fault.path) ?? fault;
    this.#repeated.delete(path);
    this.#deadLetters.push({
      place: this.#told(path).slice(0, MOST_PAYLOAD),
      reason: this.#told(reason).slice(0, MOST_PAYLOAD),
      payload: this.quotes ? payload.slice(0, MOST_PAYLOAD) : '',
      payloadLength,
    });
  }

  /** Entries of a list that were not understood. */
  deadEntries({
    invalidEntries,
    invalidEntriesOmitted,
  }: {
    readonly invalidEntries: readonly InvalidEntry[];
    readonly invalidEntriesOmitted: number;
  }): void {
    const told = invalidEntries.slice(0, MOST_DEAD_LETTERS - this.#deadLetters.length);
    const texts = told.length > 0 ? entryTexts(this.#bodyText(), this.#body, told, MOST_PAYLOAD) : undefined;
    for (const entry of told) this.#deadEntry(entry, texts?.get(entry));
    this.#deadLetterCount += invalidEntries.length - told.length + invalidEntriesOmitted;
  }

  #deadEntry(entry: InvalidEntry, came: EntryText | undefined): void {
    if (came) {
      this.dead(entry, came.text, came.length);
      return;
    }
    // Nested too deep to be found, so that it is written again.
    const { text, whole } = jsonPrefix(entry.value, MOST_PAYLOAD);
    this.dead(entry, text, whole ? text.length : this.#bodyText().length);
  }

  /** A text without what it quotes, when that must not be kept. */
  #told(text: string): string {
    return this.quotes ? text : text.replace(/".*"/s, '"…"');
  }

  countExtraFields(count: number): void {
    this.#extraFields += count;
  }

  countExchangeError(): void {
    this.#exchangeErrors += 1;
  }
}
