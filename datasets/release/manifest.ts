import { z } from 'zod';
import { sha256Hex } from '../../core/index.js';

export const MANIFEST_FILE = 'manifest.json';
export const CHECKSUMS_FILE = 'SHA256SUMS';
export const FORMAT_VERSION = 1;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
/** Names and types become parts of queries. */
const name = z.string().regex(/^[A-Za-z_]\w*$/);
const type = z.string().regex(/^[A-Za-z]\w*(?:[\w(), ']*\))?$/);
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
const count = z.number().int().nonnegative();
const time = z.string().nullable();

const columnSchema = z.object({ name, type, comment: z.string().optional() });

const fileSchema = z.object({
  path: z.string().regex(/^[A-Za-z_]\w*\/\d{4}-\d{2}-\d{2}\.parquet$/),
  table: name,
  day,
  /** Rows of the day could still arrive when it was exported. */
  unfinished: z.literal(true).optional(),
  rows: count,
  /** First and last time of the rows, ISO 8601 with microseconds. */
  first_at: time,
  last_at: time,
  /** Per log and partition, the first and last offset of the rows. */
  offsets: z.array(z.object({ log: z.string(), partition: count, first: count, last: count })),
  bytes: count,
  sha256: hash,
  content_sha256: hash,
  schema_sha256: hash,
  /** CRC-32 of each column chunk in the order of the file, 8 digits each, to find a damage; absent in releases of older versions. */
  column_chunks_crc32: z
    .string()
    .regex(/^(?:[0-9a-f]{8})*$/)
    .optional(),
});

export const manifestSchema = z.object({
  format_version: z.literal(FORMAT_VERSION),
  /** SHA-256 of this file with 64 zeros in this place. */
  manifest_sha256: hash,
  name: z.string(),
  version: z.string(),
  title: z.string().nullable(),
  license: z.string().nullable(),
  creator: z.string().nullable(),
  source_url: z.string().nullable(),
  /** Whether the data is of the simulated exchange. */
  simulated: z.boolean(),
  /** Whether records of accounts are in it. */
  include_private: z.boolean(),
  made_at: z.string(),
  software: z.object({
    name: z.string(),
    version: z.string(),
    commit: z.string().nullable(),
    transform_version: z.string(),
  }),
  /** What was asked for. */
  query: z.record(z.string(), z.unknown()),
  /** Up to which offset, exclusive, records of each partition are in it. */
  positions: z.array(z.object({ topic: z.string(), log: z.string(), partition: count, end: count })),
  days: z.array(day),
  unfinished_days: z.array(day),
  /** How `content_sha256` is computed. */
  content_encoding: z.string(),
  tables: z.array(
    z.object({
      name,
      columns: z.array(columnSchema).min(1),
      sort_order: z.array(name).min(1),
      time: z.array(name).min(1),
      positions: z.boolean(),
      rows: count,
    }),
  ),
  /** Tables with rows whose raw records are not in it; absent in releases of older versions. */
  not_rebuildable: z.array(name).optional(),
  /** Seconds per table and state in the files of `coverage`; a range of one market counts as a range of the event. */
  coverage: z.array(z.object({ table: z.string(), state: z.string(), seconds: z.number() })),
  /** Per table and event the longest time without a gap. */
  replay_segments: z.array(
    z.object({ table: z.string(), event: z.string(), begins_at: z.string(), ends_at: z.string(), seconds: z.number() }),
  ),
  /** Markets that were observed throughout a finished day, and have no rows of it in the table. */
  empty: z.array(z.object({ table: z.string(), day, markets: z.array(z.string()).min(1) })),
  /** Per stream, the loss that audits found in their samples: the rate, and its Wilson 95 % bounds. */
  feed_loss_estimate: z.array(
    z.object({
      ...{ stream: z.string(), samples: count, lost_samples: count, changes: count },
      ...{ rate: z.number(), lower: z.number(), upper: z.number() },
    }),
  ),
  files: z.array(fileSchema),
  /** Paths of the files that are not as in an earlier version of the release, if one was named. */
  changes: z
    .object({
      since: z.object({ version: z.string(), manifest_sha256: hash }),
      added: z.array(z.string()),
      removed: z.array(z.string()),
      changed: z.array(z.string()),
    })
    .optional(),
});
export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestFile = z.infer<typeof fileSchema>;

/** Whether records may have been lost: collector events and polls alone do not say then what was observed. */
export const mayHaveLosses = ({ tables, files }: Manifest): boolean =>
  !tables.some(({ name: table }) => table === 'lost_ranges') || files.some(({ table }) => table === 'lost_ranges');

export const PLACEHOLDER = '0'.repeat(64);

/** The text of `manifest.json`, with its own hash. */
export function manifestText(manifest: Omit<Manifest, 'manifest_sha256' | 'format_version'>): {
  readonly text: string;
  readonly hash: string;
} {
  const whole: Manifest = { format_version: FORMAT_VERSION, manifest_sha256: PLACEHOLDER, ...manifest };
  const draft = `${JSON.stringify(whole, undefined, 1)}\n`;
  const own = sha256Hex(draft);
  return { text: draft.replace(PLACEHOLDER, own), hash: own };
}
