import type { Ban } from './bans.js';
import { declaredNames, type Found } from './declared-names.js';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Every use of a banned word, as one line for people: `file:line: "word": the standard term`. */
export function uses(file: SourceFile, bans: readonly Ban[]): string[] {
  const banned = (where: Ban['where']) => bans.filter((ban) => ban.where === where && !allowed(file.path, ban));
  return [
    ...reports(file, banned('prose'), phrases),
    ...reports(file, banned('name'), names),
    ...reports(file, banned('column'), columns),
  ];
}

/** An exception with a slash is a folder or file, one with a dot in front an ending, any other a whole name. */
const allowed = (path: string, { except }: Ban) =>
  except.some((part) => (part.startsWith('.') ? path.endsWith(part) : part.includes('/') && path.startsWith(part)));

function reports(
  file: SourceFile,
  bans: readonly Ban[],
  find: (file: SourceFile, words: readonly string[]) => Found[],
): string[] {
  if (bans.length === 0) return [];
  const known = new Map(bans.map((ban) => [ban.word, ban]));
  return find(file, [...known.keys()])
    .filter(({ word, name }) => name === undefined || !known.get(word)?.except.includes(name))
    .map(({ index, word }) => {
      const start = index + file.text.slice(index).search(/\S/);
      return `${file.path}:${file.text.slice(0, start).split('\n').length}: "${word}": ${known.get(word)?.term}`;
    });
}

/** A phrase also counts where a line of a document or a comment ends between its words. */
function phrases({ text }: SourceFile, words: readonly string[]): Found[] {
  const patterns = words.map((word) => word.replaceAll(' ', String.raw`(?: |\s*\n\s*(?:(?:\*|//|--) ?)?)`));
  return matches(text, new RegExp(String.raw`\b(?:${patterns.join('|')})\b`, 'gi')).map(({ index, word }) => ({
    index,
    word: word.replaceAll(/\s+(?:(?:\*|\/\/|--) ?)?/g, ' ').toLowerCase(),
  }));
}

/** Keywords of SQL are in capitals here, so that `ORDER` is none and `order` is an identifier. */
function columns({ path, text }: SourceFile, words: readonly string[]): Found[] {
  const sql = path.endsWith('.sql');
  if (!sql && !PRODUCT.test(path)) return [];
  const identifiers = sql
    ? matches(withoutProse(text), /(?<![\w$])[a-z_]\w*/g)
    : matches(text, /(?<=^ +(?:readonly )?)[a-z_$][\w$]*(?=\??:)/gm);
  return identifiers.flatMap(({ index, word: identifier }) =>
    words.filter((word) => isColumn(identifier, word)).map((word) => ({ index, word, name: identifier })),
  );
}

/** `=trade`: the whole identifier; else its words between `_`, one after the other. */
const isColumn = (identifier: string, banned: string) =>
  banned.startsWith('=') ? identifier === banned.slice(1) : `_${identifier}_`.includes(`_${banned}_`);

const PRODUCT = /^(?:bus|certify|cli|collectors|core|datasets|transforms|viewer|warehouse)\/.*\.ts$/;

/** SQL with blanks for its comments, and for texts of several words: both are prose. */
const withoutProse = (sql: string) =>
  sql.replaceAll(/--[^\n]*|'(?:[^'\\]|\\.|'')*'/g, (text) =>
    /^'\w+'$/.test(text) ? text : text.replaceAll(/[^\n]/g, ' '),
  );

/** Of the file, of all that its code declares, and of what its SQL names with `AS`. */
function names({ path, text }: SourceFile, words: readonly string[]): Found[] {
  const code = /\.(?:ts|mjs)$/.test(path);
  if (!code && !path.endsWith('.sql')) return [];
  const fileName = (path.split('/').at(-1) ?? '').split('.')[0] ?? '';
  const tests = words.map((word) => ({ word, has: matcher(word) }));
  const sql = code ? text : withoutProse(text);
  return [{ index: 0, word: fileName }, ...(code ? declaredNames(path, text) : []), ...aliases(sql)].flatMap(
    ({ index, word: name }) => {
      const own = ` ${wordsOf(name)} `;
      return tests.filter(({ has }) => has(name, own)).map(({ word }) => ({ index, word, name }));
    },
  );
}

/** `x AS alias`, and `WITH alias AS (`. */
const aliases = (text: string) => matches(text, /(?<=\bAS )[a-z_]\w*|\b[a-z_]\w*(?= AS\s*\()/g);

/** `MOST_`: a word of a constant; `*Place`: the last word; else its words, one after the other, anywhere in the name. */
function matcher(banned: string): (name: string, words: string) => boolean {
  if (banned.endsWith('_')) {
    return (name) => /^[A-Z\d_]+$/.test(name) && name.split('_').includes(banned.slice(0, -1));
  }
  const wanted = ` ${wordsOf(banned.replace('*', ''))} `;
  return banned.startsWith('*') ? (_, words) => words.endsWith(wanted) : (_, words) => words.includes(wanted);
}

const wordsOf = (name: string) =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_$-]/g, ' ')
    .trim()
    .toLowerCase();

const matches = (text: string, pattern: RegExp): Found[] =>
  [...text.matchAll(pattern)].map((match) => ({ index: match.index, word: match[0] }));
