import type { DecodedList, ValidationIssue } from '../../client/index.js';
import { entryTexts } from '../json/entry-texts.js';
import type { PriceTick } from '../tables/price-ticks.js';
import type { RowTable } from '../tables/row-table.js';

/** Maximum number of dead letters of one record, to limit its cost; the last one has the number of the others. */
const MAX_DEAD_LETTERS = 100;
/** Maximum length of a dead letter's payload, UTF-16 units. */
export const MAX_PAYLOAD = 4096;

/** A part of a record that could not be understood. */
export interface DeadLetter {
  /** Its path in the record, like `d[3].b`; empty for the whole record. */
  readonly jsonPath: string;
  readonly reason: string;
  /** The received text of that part, truncated to 4096 UTF-16 units. */
  readonly payload: string;
  /** Length of the text before truncation. */
  readonly payloadLength: number;
}

/** The output of one record: rows by table, and dead letters. Transforms only add to it. */
export class RecordOutput {
  readonly priceTicks: PriceTick[] = [];
  readonly #rows = new Map<RowTable<never>, unknown[]>();
  readonly #deadLetters: DeadLetter[] = [];
  #deadLetterCount = 0;
  #extraFields = 0;
  #exchangeErrors = 0;
  #bodyText = () => '';
  #body: unknown;

  /** @param quotes whether dead letters may quote the record; otherwise they have no payload and their reasons quote nothing */
  constructor(private readonly quotes = true) {}

  /** Sets the received text of the record's body. */
  about(bodyText: () => string): void {
    this.#bodyText = bodyText;
  }

  /** Sets the parsed body (`JSON.parse` or `parseLossless`), in which invalid entries are located. */
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

  /** The dead letters, up to a maximum; the last one has the number of the others. */
  get deadLetters(): readonly DeadLetter[] {
    const more = this.#deadLetterCount - this.#deadLetters.length;
    if (more === 0) return this.#deadLetters;
    const reason = `${more} more parts of this record could not be understood`;
    return [...this.#deadLetters, { jsonPath: '', reason, payload: '', payloadLength: this.#bodyText().length }];
  }

  /** Number of undocumented fields. */
  get extraFields(): number {
    return this.#extraFields;
  }

  /** Number of error messages of the exchange. */
  get exchangeErrors(): number {
    return this.#exchangeErrors;
  }

  row<Row>(table: RowTable<Row>, row: Row): void {
    const rows = this.#rows.get(table);
    if (rows) rows.push(row);
    else this.#rows.set(table, [row]);
  }

  /**
   * Adds a dead letter for the part at `fault.path`, whose text is `payload`.
   * @param payloadLength the length of the whole payload, if `payload` is only its beginning
   */
  dead({ path, reason }: ValidationIssue, payload: string, payloadLength = payload.length): void {
    this.#deadLetterCount += 1;
    if (this.#deadLetters.length >= MAX_DEAD_LETTERS) return;
    this.#deadLetters.push({
      jsonPath: this.#quoted(path).slice(0, MAX_PAYLOAD),
      reason: this.#quoted(reason).slice(0, MAX_PAYLOAD),
      payload: this.quotes ? payload.slice(0, MAX_PAYLOAD) : '',
      payloadLength,
    });
  }

  /** Adds dead letters for invalid entries of a list. */
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

  /** Removes quotations from a text if they may not be stored. */
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
