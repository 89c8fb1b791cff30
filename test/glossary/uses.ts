import type { Ban } from './bans.js';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

interface Found {
  readonly index: number;
  readonly word: string;
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

const allowed = (path: string, { except }: Ban) =>
  except.some((part) => (part.startsWith('.') ? path.endsWith(part) : path.startsWith(part)));

function reports(
  file: SourceFile,
  bans: readonly Ban[],
  find: (file: SourceFile, words: readonly string[]) => Found[],
): string[] {
  if (bans.length === 0) return [];
  const terms = new Map(bans.map(({ word, term }) => [word, term]));
  return find(file, [...terms.keys()]).map(({ index, word }) => {
    const start = index + file.text.slice(index).search(/\S/);
    return `${file.path}:${file.text.slice(0, start).split('\n').length}: "${word}": ${terms.get(word)}`;
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
    words.filter((word) => isColumn(identifier, word)).map((word) => ({ index, word })),
  );
}

/** `=trade`: the whole identifier; else its words between `_`, one after the other. */
const isColumn = (identifier: string, banned: string) =>
  banned.startsWith('=') ? identifier === banned.slice(1) : `_${identifier}_`.includes(`_${banned}_`);

const PRODUCT = /^(?:bus|certify|cli|collectors|core|transforms|viewer|warehouse)\/.*\.ts$/;

/** SQL with blanks for its comments, and for texts of several words: both are prose. */
const withoutProse = (sql: string) =>
  sql.replaceAll(/--[^\n]*|'(?:[^'\\]|\\.|'')*'/g, (text) =>
    /^'\w+'$/.test(text) ? text : text.replaceAll(/[^\n]/g, ' '),
  );

function names({ path, text }: SourceFile, words: readonly string[]): Found[] {
  if (!path.endsWith('.ts')) return [];
  const fileName = (path.split('/').at(-1) ?? '').split('.')[0] ?? '';
  const tests = words.map((word) => ({ word, has: matcher(word) }));
  const declared = [...text.matchAll(DECLARED)].map((match) => ({
    index: match.index,
    name: match[1] ?? match[2] ?? match[3] ?? '',
  }));
  return [{ index: 0, name: fileName }, ...declared]
    .filter(({ name }) => !CONTROL.has(name))
    .flatMap(({ index, name }) => {
      const own = ` ${wordsOf(name)} `;
      return tests.filter(({ has }) => has(name, own)).map(({ word }) => ({ index, word }));
    });
}

const DECLARED =
  /\b(?:class|interface|type|enum|function\*?|const|let)\s+([A-Za-z_$][\w$]*)|^ +(?:(?:async|static|private|override|get|set)\s+)*#?([a-z][\w$]*)\([^\n]*\{$|^ +(?:static |readonly )*#([a-z][\w$]*)\b/gm;
const CONTROL = new Set(['if', 'for', 'while', 'switch', 'catch']);

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
