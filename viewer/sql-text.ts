import { UsageError } from '../core/index.js';

/** The index after the quoted region (`'…'`, `"…"`, `` `…` ``) that opens at `at`; the end of the text if it is not closed. */
function endOfQuoted(sql: string, at: number): number {
  const quote = sql[at];
  for (let i = at + 1; i < sql.length; i++) {
    if (sql[i] === '\\') i++;
    else if (sql[i] === quote && sql[i + 1] === quote) i++;
    else if (sql[i] === quote) return i + 1;
  }
  return sql.length;
}

const isQuote = (c: string | undefined): boolean => c === "'" || c === '"' || c === '`';
const HEREDOC = /\$\w*\$/y;

/** The index after a heredoc (`$tag$…$tag$`) that opens at `at`; undefined if none does. */
function endOfHeredoc(sql: string, at: number): number | undefined {
  HEREDOC.lastIndex = at;
  const tag = HEREDOC.exec(sql)?.[0];
  const end = tag === undefined ? -1 : sql.indexOf(tag, at + tag.length);
  return tag === undefined || end < 0 ? undefined : end + tag.length;
}

/** The SQL with spaces in place of its comments (`--`, `/* … *\/`), except in quotes and heredocs; lines of comments only are left out. */
export function withoutComments(sql: string): string {
  let text = '';
  let from = 0;
  // Where the line begins, while it has only blanks and comments.
  let blankFrom: number | undefined = 0;
  for (let i = 0; i < sql.length; ) {
    const end = endOfComment(sql, i);
    if (end === undefined) {
      if (sql[i] === '\n') blankFrom = i + 1;
      else if (sql[i]?.trim() !== '') blankFrom = undefined;
      i = endOfAtom(sql, i);
    } else if (blankFrom !== undefined && sql[end] === '\n') {
      text += sql.slice(from, Math.max(from, blankFrom));
      from = i = blankFrom = end + 1;
    } else {
      text += sql.slice(from, i) + sql.slice(i, end).replace(/[^\n]/g, ' ');
      from = i = end;
    }
  }
  return text + sql.slice(from);
}

/** The index after the quoted region, the heredoc or the single character at `at`. */
function endOfAtom(sql: string, at: number): number {
  if (isQuote(sql[at])) return endOfQuoted(sql, at);
  return (sql[at] === '$' ? endOfHeredoc(sql, at) : undefined) ?? at + 1;
}

function endOfComment(sql: string, at: number): number | undefined {
  if (sql.startsWith('--', at)) {
    const end = sql.indexOf('\n', at);
    return end < 0 ? sql.length : end;
  }
  if (!sql.startsWith('/*', at)) return undefined;
  const end = sql.indexOf('*/', at + 2);
  return end < 0 ? sql.length : end + 2;
}

/** The quoted regions of a text without comments, as `[start, end]`. */
export function quotedRegions(sql: string): [start: number, end: number][] {
  const regions: [number, number][] = [];
  for (let i = 0; i < sql.length; ) {
    const end = isQuote(sql[i]) ? endOfQuoted(sql, i) : i + 1;
    if (isQuote(sql[i])) regions.push([i, end]);
    i = end;
  }
  return regions;
}

/**
 * The arguments between the bracket at `open` and the matching one, split at commas outside of quotes and inner brackets.
 * No arguments when there is no bracket.
 * @throws UsageError when the bracket is not closed
 */
export function argumentsAt(sql: string, open: number): { args: string[]; end: number } {
  if (sql[open] !== '(') return { args: [], end: open };
  const args: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let i = open; i < sql.length; i = isQuote(sql[i]) ? endOfQuoted(sql, i) : i + 1) {
    const c = sql[i];
    if (c === '(') depth++;
    if (c === ')') depth--;
    if ((c === ',' && depth === 1) || depth === 0) {
      args.push(sql.slice(start, i).trim());
      start = i + 1;
    }
    if (depth === 0) return { args, end: i + 1 };
  }
  throw new UsageError(`a bracket is not closed: ${sql.slice(open, open + 60)}`);
}

/** Positions outside of quotes and brackets at which one of these words begins, with the word, from left to right. */
export function topLevelWords(sql: string, words: RegExp): { at: number; end: number; word: string }[] {
  const found: { at: number; end: number; word: string }[] = [];
  const word = new RegExp(`\\b(?:${words.source})\\b`, 'iy');
  let depth = 0;
  for (let i = 0; i < sql.length; ) {
    if (sql[i] === '(') depth++;
    if (sql[i] === ')') depth--;
    word.lastIndex = i;
    const match = depth === 0 ? word.exec(sql) : null;
    if (match) found.push({ at: i, end: word.lastIndex, word: match[0].toUpperCase().replace(/\s+/g, ' ') });
    i = match ? word.lastIndex : isQuote(sql[i]) ? endOfQuoted(sql, i) : i + 1;
  }
  return found;
}
