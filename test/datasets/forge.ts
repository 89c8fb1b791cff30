import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '../../core/index.js';
import type { FileServer } from '../../datasets/file-server.js';
import { FileInspector } from '../../datasets/inspect.js';
import { checksumLines } from '../../datasets/release/checksums.js';
import { columnChunksCrc32 } from '../../datasets/release/column-chunks.js';
import { figuresOf } from '../../datasets/release/figures.js';
import { type Manifest, manifestText } from '../../datasets/release/manifest.js';

const SETTINGS =
  'SETTINGS max_threads = 1, input_format_parquet_preserve_order = 1, output_format_parquet_parallel_encoding = 0';

/** Replaces a file of a release by the result of a query about `FILE`, and all checksums and figures so that they fit. */
export async function forgeFile(server: FileServer, path: string, query: string): Promise<void> {
  const { signal } = new AbortController();
  const { folder } = server;
  const from = `file('${server.folder}/${path}', Parquet)`;
  const { body } = await server.source.result(
    `${query.replaceAll('FILE', from)} ${SETTINGS} FORMAT Parquet`,
    {},
    signal,
  );
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  writeFileSync(join(folder, path), bytes);
  const manifest = readManifestOf(folder);
  const file = manifest.files.find((own) => own.path === path);
  const schema = manifest.tables.find(({ name }) => name === file?.table);
  if (!file || !schema) throw new Error(`${path} is not in the manifest`);
  const inspector = new FileInspector(server, path, schema);
  const columns = new Set((await inspector.columns(signal)).map(({ name }) => name));
  const fits = schema.columns.every(({ name }) => columns.has(name));
  const before = file.rows;
  const content = fits ? await inspector.content(signal) : {};
  const crc32 = await columnChunksCrc32(server, path, signal);
  Object.assign(file, content, { bytes: bytes.length, sha256: sha256Hex(bytes), column_chunks_crc32: crc32 });
  schema.rows += file.rows - before;
  Object.assign(
    manifest,
    fits
      ? await figuresOf(
          server,
          manifest.tables.map(({ name }) => name),
          manifest.files,
          signal,
        )
      : {},
  );
  forgeManifest(folder, manifest);
}

export const readManifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;

/** Replaces the manifest, with its hash of itself and all checksums. */
export function forgeManifest(folder: string, manifest: Manifest): void {
  const { manifest_sha256, format_version, ...rest } = manifest;
  writeFileSync(join(folder, 'manifest.json'), manifestText(rest).text);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /\.\w+$/.test(name) && name !== 'SHA256SUMS');
  const sums = files.map((name) => [name, sha256Hex(readFileSync(join(folder, name)))] as const);
  writeFileSync(join(folder, 'SHA256SUMS'), checksumLines(sums));
}

/** Replaces a text in the footer of a Parquet file by another one of the same length; all checksums fit. */
export function forgeFooter(folder: string, path: string, from: string, to: string): void {
  const bytes = readFileSync(join(folder, path));
  const begin = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
  const footer = bytes.subarray(begin).toString('latin1');
  const forged = Buffer.concat([bytes.subarray(0, begin), Buffer.from(footer.replaceAll(from, to), 'latin1')]);
  if (forged.equals(bytes) || forged.length !== bytes.length) throw new Error(`the footer of ${path} has no ${from}`);
  writeFileSync(join(folder, path), forged);
  const manifest = readManifestOf(folder);
  for (const file of manifest.files) if (file.path === path) file.sha256 = sha256Hex(forged);
  forgeManifest(folder, manifest);
}
