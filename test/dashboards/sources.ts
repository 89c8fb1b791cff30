/** Words after a source that are no alias of it. */
const NO_ALIAS =
  /^(?:WHERE|PREWHERE|GROUP|ORDER|LIMIT|HAVING|LEFT|RIGHT|INNER|FULL|CROSS|ASOF|ANY|GLOBAL|JOIN|ARRAY|USING|ON|UNION|FINAL|SAMPLE|SETTINGS|WINDOW|QUALIFY)$/i;

/** The tables, views and table functions that a statement reads; subqueries and names of WITH are none. */
export function sourcesOf(sql: string): string[] {
  const bare = sql
    .replace(/'(?:[^'\\]|\\.|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//g, (text) => (text.startsWith("'") ? "''" : ' '))
    .replace(/["`]/g, '');
  const own = new Set([...bare.matchAll(/\b(\w+)\s+AS\s*\(\s*(?:SELECT|WITH)\b/gi)].map(([, name = '']) => name));
  const found: string[] = [];
  for (const { 0: word, index } of bare.matchAll(/\b(?:FROM|(?<!\bARRAY\s+)JOIN|IN)\b/gi)) {
    let rest = bare.slice(index + word.length);
    for (let isListed = true; isListed; ) {
      const [whole = '', name = ''] = /^\s*([\w.${}]*)/.exec(rest) ?? [];
      if (name !== '') found.push(name);
      rest = withoutAlias(withoutParentheses(rest.slice(whole.length)));
      isListed = word.toUpperCase() === 'FROM' && rest.startsWith(',');
      rest = rest.slice(1);
    }
  }
  return [...new Set(found)].filter((name) => !own.has(name));
}

/** The text without the parentheses at its beginning. */
function withoutParentheses(text: string): string {
  const begin = text.trimStart();
  if (!begin.startsWith('(')) return text;
  let depth = 0;
  for (const [i, char] of [...begin].entries()) {
    if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    if (depth === 0) return begin.slice(i + 1);
  }
  return '';
}

function withoutAlias(text: string): string {
  const [whole = '', alias = ''] = /^\s*(?:AS\s+)?(\w+)?\s*/i.exec(text) ?? [];
  return NO_ALIAS.test(alias) ? text.trimStart() : text.slice(whole.length);
}
