import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../core/index.js';
import { FileServer } from '../file-server.js';
import { FileInspector, schemaHash } from '../inspect.js';
import type { Scan } from '../scan.js';
import { ExportQueryError } from '../source.js';
import type { Column, TableSchema } from '../statement.js';
import { readChecksums, sha256OfFile } from './checksums.js';
import { chunkDamages } from './column-chunks.js';
import type { Damage } from './damage.js';
import { explainedDays } from './explained-days.js';
import { figuresOf } from './figures.js';
import { inParallel } from './in-parallel.js';
import { CHECKSUMS_FILE, MANIFEST_FILE, type Manifest, type ManifestFile } from './manifest.js';
import { readManifest } from './read-manifest.js';
import { candleDamages } from './verify-candles.js';
import { coverageDamages } from './verify-coverage.js';
import { boundedColumns, footerDamages } from './verify-footer.js';
import { figureDamages, manifestDamages } from './verify-manifest.js';
import { observedDamages } from './verify-observed.js';
import { recordDamages } from './verify-records.js';
import { damagedRows, rowRuleDamages, sequenceDamages } from './verify-rows.js';
import { tickDamages } from './verify-ticks.js';

export interface VerifyOptions {
  readonly folder: string;
  /** Whether only the bytes are compared, not the rows. */
  readonly checksumsOnly: boolean;
  /** The only manifest that is accepted. */
  readonly manifestSha256?: string | undefined;
  readonly unconfined: boolean;
  /** What reads the folder, left open; by default a server is started for it. */
  readonly server?: FileServer;
  readonly onFile?: (done: number, inAll: number) => void;
}

export interface Verified {
  readonly manifest: Manifest;
  readonly damages: readonly Damage[];
}

/**
 * Compares a release with its manifest, and its tables with each other. No server is needed: an embedded ClickHouse without
 * data reads the files.
 * @throws UsageError when the folder is no release, or has another manifest; DamagedDatasetError for a damaged manifest
 */
export async function verifyDataset(options: VerifyOptions, signal: AbortSignal): Promise<Verified> {
  const { folder, checksumsOnly, manifestSha256 } = options;
  const manifest = readManifest(folder);
  if (manifestSha256 !== undefined && manifest.manifest_sha256 !== manifestSha256.toLowerCase()) {
    throw new UsageError(`${folder} has the manifest ${manifest.manifest_sha256}, not ${manifestSha256}`);
  }
  const damages = fileDamages(folder, manifest);
  const checksums = checksumDamages(folder, manifest, signal);
  if (checksumsOnly) return { manifest, damages: [...damages, ...(await checksums)] };
  const present = manifest.files.filter(({ path }) => existsSync(join(folder, path)));
  // The server starts while the bytes are read.
  const starting = options.server ?? FileServer.start(options, signal);
  const [summed, started] = await Promise.allSettled([checksums, starting]);
  if (started.status === 'rejected') throw started.reason;
  const server = started.value;
  try {
    if (summed.status === 'rejected') throw summed.reason;
    damages.push(...summed.value);
    let done = 0;
    const tasks = present.map((file) => async () => {
      const checked = await checkRows(server, manifest, file, signal);
      done += 1;
      options.onFile?.(done, present.length);
      return checked;
    });
    const checked = await inParallel(tasks);
    damages.push(...checked.flatMap((file) => file.damages));
    const readable = checked.flatMap(({ comparable }) => (comparable ? [comparable] : []));
    const scans = new Map(
      checked.flatMap(({ comparable, scan }) => (comparable && scan ? [[comparable.path, scan]] : [])),
    );
    damages.push(...(await tableDamages(server, manifest, { files: readable, scans }, signal)));
  } finally {
    if (!options.server) await server.close();
  }
  return { manifest, damages };
}

interface ReadableFiles {
  readonly files: readonly ManifestFile[];
  /** By path. */
  readonly scans: ReadonlyMap<string, Scan>;
}

/** Rows that are not as an export writes them, and tables that contradict each other or the manifest. */
async function tableDamages(
  server: FileServer,
  manifest: Manifest,
  { files, scans }: ReadableFiles,
  signal: AbortSignal,
): Promise<Damage[]> {
  const explained = await explainedDays(server, files, signal);
  const checks = [
    () => rowRuleDamages(server, manifest, files, scans, signal),
    () => sequenceDamages(server, files, signal),
    () => tickDamages(server, files, explained, signal),
    () => recordDamages(server, manifest, files, explained, signal),
    () => candleDamages(server, files, signal),
    () => coverageDamages(server, manifest, files, signal),
    () => observedDamages(server, manifest, files, signal),
  ];
  const damages = [...manifestDamages(manifest), ...(await inParallel(checks)).flat()];
  // Files that cannot be read have figures of their own.
  if (files.length < manifest.files.length) return damages;
  const tables = manifest.tables.map(({ name }) => name);
  return [...damages, ...figureDamages(manifest, await figuresOf(server, tables, files, signal))];
}

/** Files that are missing, or that the manifest does not know. */
function fileDamages(folder: string, { files, tables }: Manifest): Damage[] {
  const known = new Set(files.map(({ path }) => path));
  const missing = files.filter(({ path }) => !existsSync(join(folder, path)));
  const folders = tables.map(({ name }) => name).filter((name) => existsSync(join(folder, name)));
  const found = folders.flatMap((name) => readdirSync(join(folder, name)).map((file) => `${name}/${file}`));
  return [
    ...missing.map(({ path }) => ({ path, what: 'is missing' })),
    ...found.filter((path) => !known.has(path)).map((path) => ({ path, what: 'is not in the manifest' })),
  ];
}

async function checksumDamages(folder: string, { files }: Manifest, signal: AbortSignal): Promise<Damage[]> {
  const path = join(folder, CHECKSUMS_FILE);
  if (!existsSync(path)) return [{ path: CHECKSUMS_FILE, what: 'is missing: the release is not complete' }];
  const listed = new Map(readChecksums(readFileSync(path, 'utf8')));
  const damages: Damage[] = [];
  for (const file of files) {
    if (listed.get(file.path) === file.sha256) continue;
    damages.push({ path: CHECKSUMS_FILE, what: `has another hash of ${file.path} than the manifest` });
  }
  for (const [name, expected] of listed) {
    const file = join(folder, name);
    if (!existsSync(file)) continue;
    const size = files.find((own) => own.path === name)?.bytes;
    if (size !== undefined && statSync(file).size !== size) {
      damages.push({ path: name, what: `has ${statSync(file).size} bytes instead of ${size}` });
    } else if ((await sha256OfFile(file, signal)) !== expected) {
      damages.push({ path: name, what: `does not have the SHA-256 of ${CHECKSUMS_FILE}` });
    }
  }
  if (!listed.has(MANIFEST_FILE)) damages.push({ path: CHECKSUMS_FILE, what: `does not have ${MANIFEST_FILE}` });
  return damages;
}

interface CheckedRows {
  readonly damages: readonly Damage[];
  /** The file with the offsets that its rows have; undefined when its rows cannot be read with the columns of its table. */
  readonly comparable?: ManifestFile;
  readonly scan?: Scan;
}

async function checkRows(
  server: FileServer,
  manifest: Manifest,
  file: ManifestFile,
  signal: AbortSignal,
): Promise<CheckedRows> {
  const { path, day } = file;
  const schema = manifest.tables.find(({ name }) => name === file.table);
  if (!schema) {
    const what = `is of table ${file.table}, which the manifest does not describe`;
    return { damages: [{ path, what }], comparable: file };
  }
  const inspector = new FileInspector(server, path, schema);
  try {
    const columns = columnDamages(path, schema, await inspector.columns(signal));
    if (columns.length > 0) return { damages: columns };
    const checks = { day, damaged: damagedRows(file.table), bounded: boundedColumns(schema) };
    const scan = await inspector.scan(checks, signal);
    const fault = scan.doubtful > 0 ? await inspector.firstFault(day, signal) : undefined;
    const content = await inspector.contentOf(scan, signal);
    const otherSchema = schemaHash(schema.columns) !== file.schema_sha256;
    const differing = (['rows', 'first_at', 'last_at', 'content_sha256'] as const)
      .filter((name) => content[name] !== file[name])
      .map((name) => ({ path, what: `has ${name} ${content[name]} instead of ${file[name]}` }));
    const offsets = JSON.stringify(content.offsets) === JSON.stringify(file.offsets);
    const damages = [
      ...(otherSchema ? [{ path, what: 'has another schema_sha256 than its table' }] : []),
      ...(fault ? [{ path, ...fault }] : []),
      ...differing,
      ...(differing.length > 0 ? await chunkDamages(server, path, file.column_chunks_crc32, signal) : []),
      ...(offsets ? [] : [{ path, what: 'has other offsets than the manifest says' }]),
      ...(await footerDamages(server, path, schema, scan, signal)),
    ];
    return { damages, comparable: { ...file, offsets: [...content.offsets] }, scan };
  } catch (error) {
    if (!(error instanceof ExportQueryError)) throw error;
    const chunks = await chunkDamages(server, path, file.column_chunks_crc32, signal).catch(noneIfUnreadable);
    return { damages: [unreadable(path, error), ...chunks] };
  }
}

function noneIfUnreadable(error: unknown): Damage[] {
  if (error instanceof ExportQueryError) return [];
  throw error;
}

/** Without what ClickHouse says about itself, and with the column if it names one. */
function unreadable(path: string, { message }: ExportQueryError): Damage {
  const [, text = message] =
    /^(?:ClickHouse: )?(?:Code: \d+\. DB::Exception: )?(.*?)(?:[:.]? *(?:\(in file\/uri |While executing ).*)?$/s.exec(
      message,
    ) ?? [];
  const [, column] = / column: (\w+)/.exec(text) ?? [];
  const why = text
    .replace(/: read stage: .*$/s, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/\. ?$/, '');
  return { path, ...(column !== undefined && { column }), what: `cannot be read: ${why}` };
}

/** Differences between the columns of a file and those of its table. */
function columnDamages(path: string, { columns }: TableSchema, found: readonly Column[]): Damage[] {
  const missing = columns.filter(({ name }) => !found.some((own) => own.name === name));
  const more = found.filter(({ name }) => !columns.some((own) => own.name === name));
  const other = found.flatMap(({ name, type }) => {
    const expected = columns.find((own) => own.name === name)?.type;
    return expected === undefined || expected === type ? [] : [{ name, type, expected }];
  });
  return [
    ...missing.map(({ name }) => ({ path, column: name, what: 'is missing' })),
    ...more.map(({ name }) => ({ path, column: name, what: 'is not in the manifest' })),
    ...other.map(({ name, type, expected }) => ({
      path,
      column: name,
      what: `has the type ${type} instead of ${expected}`,
    })),
  ];
}
