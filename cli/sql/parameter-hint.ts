import { type ViewFile, viewFiles } from '../../warehouse/index.js';

/** An example of each parameter that a view may have. */
const EXAMPLES: Readonly<Record<string, string>> = {
  period_seconds: '60',
  window_seconds: '86400',
  margin_ms: '250',
  from_at: "'2026-01-05'",
  to_at: "'2026-01-06'",
  price: "'chance'",
  level: "'market'",
  scope: "'all'",
  market: "'MARKET ID'",
};
/** Codes of ClickHouse for a parameterized view without its parameters. Its messages do not name them. */
const CODES = new Set(['47', '51', '90', '456']);

/** What to add to the message of a failed statement that uses a view without its parameters; empty for any other failure. */
export function parameterHint(statement: string, code: string, views = viewFiles): string {
  if (!CODES.has(code)) return '';
  for (const view of views()) {
    const names = parametersOf(view);
    const [first] = names;
    if (first === undefined || !new RegExp(`\\b${view.name}\\b(?!\\s*\\(\\s*${first}\\b)`).test(statement)) continue;
    const example = names.map((name) => `${name} = ${EXAMPLES[name] ?? '…'}`).join(', ');
    return `; ${view.name} needs parameters: ${view.name}(${example})`;
  }
  return '';
}

function parametersOf({ text }: ViewFile): string[] {
  return [...new Set([...text.matchAll(/\{(\w+):\w+\}/g)].map(([, name = '']) => name))];
}
