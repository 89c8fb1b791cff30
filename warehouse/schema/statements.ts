/**
 * Splits a file into its statements at semicolons outside of strings, quoted names, heredocs and comments. Drops
 * statements that contain only comments.
 */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let start = 0;
  let hasCode = false;
  for (let i = 0; i < sql.length; ) {
    const end = skipQuotedOrComment(sql, i);
    if (end > i) {
      if (!isCommentAt(sql, i)) hasCode = true;
      i = end;
      continue;
    }
    if (sql[i] === ';') {
      if (hasCode) statements.push(sql.slice(start, i).trim());
      start = i + 1;
      hasCode = false;
    } else if (/\S/.test(sql[i] ?? '')) {
      hasCode = true;
    }
    i += 1;
  }
  if (hasCode) statements.push(sql.slice(start).trim());
  return statements;
}

/** The words of a statement: names and keywords, without comments and string contents. Quoted names count as words. */
export function wordsOf(sql: string): Set<string> {
  let text = '';
  for (let i = 0; i < sql.length; ) {
    const end = skipQuotedOrComment(sql, i);
    if (end === i) {
      text += sql[i];
      i += 1;
    } else {
      const isName = sql[i] === '`' || sql[i] === '"';
      text += isName ? ` ${sql.slice(i + 1, end - 1)} ` : ' ';
      i = end;
    }
  }
  return new Set(text.match(/\w+/g) ?? []);
}

const isCommentAt = (sql: string, i: number): boolean => sql.startsWith('--', i) || sql.startsWith('/*', i);

/** The position after the string, quoted name, heredoc or comment that begins at `i`; `i` itself when none does. */
function skipQuotedOrComment(sql: string, i: number): number {
  const char = sql[i];
  if (char === "'" || char === '"' || char === '`') return skipQuoted(sql, i, char);
  if (sql.startsWith('--', i)) return indexOrEnd(sql, '\n', i);
  if (sql.startsWith('/*', i)) return skipBlockComment(sql, i);
  if (char === '$') {
    const tag = /^\$\w*\$/.exec(sql.slice(i, i + 66))?.[0];
    if (tag) {
      const close = sql.indexOf(tag, i + tag.length);
      return close < 0 ? sql.length : close + tag.length;
    }
  }
  return i;
}

function skipQuoted(sql: string, start: number, quote: string): number {
  for (let i = start + 1; i < sql.length; i++) {
    if (sql[i] === '\\') i += 1;
    else if (sql[i] === quote) {
      if (sql[i + 1] !== quote) return i + 1;
      i += 1;
    }
  }
  return sql.length;
}

/** ClickHouse nests block comments. */
function skipBlockComment(sql: string, start: number): number {
  let depth = 0;
  for (let i = start; i < sql.length; ) {
    if (sql.startsWith('/*', i)) {
      depth += 1;
      i += 2;
    } else if (sql.startsWith('*/', i)) {
      depth -= 1;
      i += 2;
      if (depth === 0) return i;
    } else i += 1;
  }
  return sql.length;
}

function indexOrEnd(sql: string, text: string, from: number): number {
  const at = sql.indexOf(text, from);
  return at < 0 ? sql.length : at;
}
