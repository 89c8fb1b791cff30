import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A place in code or documents that names a part of the interface. */
export interface Reference {
  readonly file: string;
  readonly part: string;
}

const NUMBER = String.raw`\d+(?:\.\d+)*`;
const REFERENCE = new RegExp(String.raw`\bparts? (${NUMBER}(?:(?:, | and | to )${NUMBER})*)`, 'gi');
const FOLDERS = [
  'bench',
  'bots',
  'bus',
  'cli',
  'client',
  'collectors',
  'core',
  'docs',
  'exchange',
  'sql',
  'test',
  'transforms',
  'viewer',
  'warehouse',
];

/** Every "part N.M" in code and documents. */
export function partReferences(): Reference[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
    .filter((file) => /\.(?:ts|md|sql)$/.test(file))
    .flatMap((file) => partsNamed(readFileSync(file, 'utf8')).map((part) => ({ file, part })));
}

/** The parts that a text names, also where a line of a comment ends in between. */
export function partsNamed(text: string): string[] {
  return [...text.replaceAll(/\s*\n\s*(?:\*|\/\/|--)?\s*/g, ' ').matchAll(REFERENCE)].flatMap(
    ([, list = '']) => list.match(new RegExp(NUMBER, 'g')) ?? [],
  );
}
