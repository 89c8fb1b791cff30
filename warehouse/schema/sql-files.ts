import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  describeError,
  EVENT_STREAMS,
  RECORD_KINDS,
  STREAM_KINDS,
  STREAM_NAMES,
  sha256Hex,
  UsageError,
} from '../../core/index.js';
import { quoteText } from '../connection.js';
import { fillPlaceholders } from './placeholders.js';
import { wordsOf } from './statements.js';

export interface SqlFile {
  /** File name without folder and `.sql`: the recorded name. */
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text with LF line ends, hex. */
  readonly checksum: string;
}

const MIGRATION_NAME = /^\d{4}(_[a-z0-9]+)+$/;

/** The migrations of `folder/migrations`, in order. Throws UsageError for an invalid name or a duplicate number. */
export function readMigrations(folder: string): SqlFile[] {
  const files = sqlFilesIn(join(folder, 'migrations'));
  const numbers = new Map<string, string>();
  for (const { name } of files) {
    if (!MIGRATION_NAME.test(name)) {
      throw new UsageError(`migration ${name}.sql must be named like 0001_create_price_ticks.sql`);
    }
    const other = numbers.get(name.slice(0, 4));
    if (other) throw new UsageError(`migrations ${other}.sql and ${name}.sql have the same number`);
    numbers.set(name.slice(0, 4), name);
  }
  return files;
}

/** A view's file; its checksum includes those of every view that it reads. */
export interface ViewFile extends SqlFile {
  readonly needs: readonly string[];
}

const arrayOf = (texts: readonly string[]): string => `[${texts.map(quoteText).join(', ')}]`;

/** Filled in when a view is read: its checksum covers the values, so it is replaced when they change. */
const VIEW_VALUES: readonly (readonly [placeholder: string, value: string])[] = [
  ['{event_streams}', arrayOf(EVENT_STREAMS)],
  ['{streams}', arrayOf(STREAM_NAMES)],
  ['{stream_topics}', arrayOf(STREAM_NAMES.map((stream) => RECORD_KINDS[STREAM_KINDS[stream]]))],
  ['{stream_names}', new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(STREAM_NAMES)],
];
const fillView = (text: string, folder: string): string =>
  VIEW_VALUES.reduce(
    (filled, [placeholder, value]) => filled.replaceAll(placeholder, value),
    withFragments(text, folder),
  );

/** Replaces `{name}` by the text of `folder/fragments/name.sql`: what several statements share. It may have fragments too. */
function withFragments(text: string, folder: string): string {
  const fragments = join(folder, 'fragments');
  const texts = new Map(
    (existsSync(fragments) ? sqlFilesIn(fragments) : []).map((one) => [one.name, one.text.trimEnd()]),
  );
  const fill = (part: string): string =>
    part.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
      const fragment = texts.get(name);
      return fragment === undefined ? placeholder : fill(fragment);
    });
  return fill(text);
}

/** The statement `folder/rollups/name.sql`, for the tables of a database. Its query parameters are left. */
export function readRollup(folder: string, name: string, database: string): string {
  const path = join(folder, 'rollups', `${name}.sql`);
  const text = readFileSync(path, 'utf8').replace(/\r\n/g, '\n');
  return fillPlaceholders(withFragments(text, folder), { database, fsync: false }, path);
}

/** The question in a view's first line becomes its COMMENT. */
function withComment(text: string): string {
  const question = /^-- (.+\?)\n/.exec(text)?.[1];
  return question === undefined ? text : `${text.replace(/;?\s*$/, '')}\nCOMMENT ${quoteText(question)};\n`;
}

/** The views of `folder/views/<subject>/`, each after those it reads. Throws UsageError for a cycle or a duplicate name. */
export function readViews(folder: string): ViewFile[] {
  const root = join(folder, 'views');
  const files = new Map<string, SqlFile>();
  for (const subject of subfoldersOf(root)) {
    for (const file of sqlFilesIn(join(root, subject), (text) => withComment(fillView(text, folder)))) {
      if (files.has(file.name)) throw new UsageError(`two view files are named ${file.name}.sql below ${root}`);
      files.set(file.name, file);
    }
  }
  const sorted = new Map<string, ViewFile>();
  for (const file of files.values()) visit(file, files, sorted, []);
  return [...sorted.values()];
}

function visit(
  file: SqlFile,
  files: ReadonlyMap<string, SqlFile>,
  sorted: Map<string, ViewFile>,
  path: readonly string[],
): ViewFile {
  const done = sorted.get(file.name);
  if (done) return done;
  if (path.includes(file.name)) {
    throw new UsageError(`views form a cycle: ${[...path, file.name].join(' → ')}`);
  }
  const words = wordsOf(file.text);
  const needs = [...files.values()]
    .filter((other) => other !== file && words.has(other.name))
    .map((other) => visit(other, files, sorted, [...path, file.name]));
  const checksum = sha256Hex([file.checksum, ...needs.map((n) => n.checksum)].join(' '));
  const view: ViewFile = { ...file, checksum, needs: needs.map((n) => n.name) };
  sorted.set(file.name, view);
  return view;
}

function sqlFilesIn(folder: string, fill = (text: string): string => text): SqlFile[] {
  return entriesOf(folder)
    .filter((entry) => entry.isFile() && entry.name.endsWith('.sql'))
    .map((entry) => {
      const text = fill(readFileSync(join(folder, entry.name), 'utf8').replace(/\r\n/g, '\n'));
      return { name: basename(entry.name, '.sql'), text, checksum: sha256Hex(text) };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const subfoldersOf = (folder: string): string[] =>
  entriesOf(folder)
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new UsageError(`cannot read the SQL folder ${folder}: ${describeError(error)}`, { cause: error });
  }
}
