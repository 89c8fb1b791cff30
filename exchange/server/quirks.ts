import { nearest, UsageError } from '../../core/index.js';

/** Deviations that a real exchange might have and a client must survive. All are off by default. */
export interface Quirks {
  readonly eventShape: 'outcomes' | 'runners' | 'both';
  readonly tradesWrapper: 'wrapped' | 'array' | 'i' | 'content';
  /** Maximum page size; larger ones are reduced to it. */
  readonly maxPageSize: number;
  /** Requests per second and client; undefined means no limit. */
  readonly rateLimit: number | undefined;
  /** Every object has an additional, undocumented field. */
  readonly extraFields: boolean;
  /** Seconds between heartbeats; undefined means none. */
  readonly heartbeatSeconds: number | undefined;
  readonly numbersAsStrings: boolean;
  readonly placeStatus: number;
  readonly deleteStatus: number;
}

export const NO_QUIRKS: Quirks = {
  eventShape: 'both',
  tradesWrapper: 'wrapped',
  maxPageSize: 100,
  rateLimit: undefined,
  extraFields: false,
  heartbeatSeconds: 15,
  numbersAsStrings: false,
  placeStatus: 200,
  deleteStatus: 204,
};

type Reader = (value: string | undefined) => Partial<Quirks> | undefined;

const oneOf =
  <T extends string>(values: readonly T[], make: (value: T) => Partial<Quirks>): Reader =>
  (value) => {
    const known = values.find((v) => v === value);
    return known === undefined ? undefined : make(known);
  };
const number =
  (pattern: RegExp, make: (value: number) => Partial<Quirks>): Reader =>
  (value) =>
    value !== undefined && pattern.test(value) && Number(value) > 0 ? make(Number(value)) : undefined;
const on =
  (quirk: Partial<Quirks>): Reader =>
  (value) =>
    value === undefined ? quirk : undefined;

/** Every quirk: its syntax, and how its value is parsed. */
const QUIRKS: ReadonlyMap<string, { readonly form: string; readonly read: Reader }> = new Map([
  [
    'event-shape',
    {
      form: 'event-shape=outcomes|runners|both',
      read: oneOf(['outcomes', 'runners', 'both'], (eventShape) => ({ eventShape })),
    },
  ],
  [
    'trades-wrapper',
    {
      form: 'trades-wrapper=array|i|content',
      read: oneOf(['array', 'i', 'content'], (tradesWrapper) => ({ tradesWrapper })),
    },
  ],
  [
    'max-page-size',
    {
      form: 'max-page-size=N, N from 1 to 100',
      read: number(/^([1-9]\d?|100)$/, (maxPageSize) => ({ maxPageSize })),
    },
  ],
  ['rate-limit', { form: 'rate-limit=N', read: number(/^\d{1,9}$/, (rateLimit) => ({ rateLimit })) }],
  ['extra-fields', { form: 'extra-fields', read: on({ extraFields: true }) }],
  [
    'heartbeat',
    {
      form: 'heartbeat=SECONDS|off',
      read: (value) =>
        value === 'off'
          ? { heartbeatSeconds: undefined }
          : number(/^\d{1,5}(\.\d{1,3})?$/, (heartbeatSeconds) => ({ heartbeatSeconds }))(value),
    },
  ],
  ['numbers-as-strings', { form: 'numbers-as-strings', read: on({ numbersAsStrings: true }) }],
  [
    'place-status',
    {
      form: 'place-status=200|201|202',
      read: oneOf(['200', '201', '202'], (status) => ({ placeStatus: Number(status) })),
    },
  ],
  [
    'delete-status',
    { form: 'delete-status=200|204', read: oneOf(['200', '204'], (status) => ({ deleteStatus: Number(status) })) },
  ],
]);

const forms = () => [...QUIRKS.values()].map(({ form }) => form).join('; ');

/**
 * Parses `--quirks a,b=1`; an empty text means no quirks.
 * @throws UsageError for an unknown quirk or an invalid value
 */
export function parseQuirks(text: string): Quirks {
  let quirks = NO_QUIRKS;
  for (const item of text.split(',').map((part) => part.trim())) {
    if (item === '') continue;
    const at = item.indexOf('=');
    const [name, value] = at < 0 ? [item, undefined] : [item.slice(0, at), item.slice(at + 1)];
    const quirk = QUIRKS.get(name);
    if (!quirk)
      throw new UsageError(
        `--quirks: unknown quirk ${item}${nearest(name, [...QUIRKS.keys()])}; known ones: ${forms()}`,
      );
    const set = quirk.read(value);
    if (!set) throw new UsageError(`--quirks has ${item}; write it as ${quirk.form}`);
    quirks = { ...quirks, ...set };
  }
  return quirks;
}
