/** A part of a line. */
export type Inline =
  | { readonly kind: 'text' | 'strong' | 'emphasis' | 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly url: string };

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly line: readonly Inline[] }
  | { readonly kind: 'paragraph'; readonly line: readonly Inline[] }
  | { readonly kind: 'code'; readonly lines: readonly string[] }
  | { readonly kind: 'list'; readonly ordered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: 'table'; readonly head: Row; readonly rows: readonly Row[] };

/** The cells of a row of a table. */
type Row = readonly (readonly Inline[])[];

/** An address may have pairs of parentheses in it, and a title after it. */
const ADDRESS = String.raw`\(((?:[^()\s]|\([^()\s]*\))+)(?:\s+"[^"]*")?\)`;
/** No part of it reads on past the next bracket: texts of strangers may have thousands. */
const INLINE = new RegExp(
  String.raw`\*\*([^*]+)\*\*|\x60([^\x60]+)\x60|!\[([^\][]*)\]${ADDRESS}|\[([^\][]+)\]${ADDRESS}|\*([^*]+)\*`,
  'g',
);
const LIST_ITEM = /^\s*([-*]|\d+\.)\s+(.*)$/;

/** The parts of a line; of an image, which is not loaded, its alternative text. */
export function inlineOf(text: string): Inline[] {
  const parts: Inline[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, strong, code, alternative, , label, url, emphasis] = match;
    parts.push({ kind: 'text', text: text.slice(from, match.index) });
    from = match.index + whole.length;
    if (strong !== undefined) parts.push({ kind: 'strong', text: strong });
    else if (code !== undefined) parts.push({ kind: 'code', text: code });
    else if (emphasis !== undefined) parts.push({ kind: 'emphasis', text: emphasis });
    else if (alternative !== undefined) parts.push({ kind: 'text', text: alternative });
    else parts.push({ kind: 'link', text: label ?? '', url: url ?? '' });
  }
  return [...parts, { kind: 'text' as const, text: text.slice(from) }].filter((part) => part.text !== '');
}

/** Markdown without HTML: headings, lists, tables, paragraphs and code. */
export function blocksOf(content: string): Block[] {
  const blocks: Block[] = [];
  const lines = content.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (/^\s*```/.test(line)) {
      const until = endOf(lines, at, (other) => !/^\s*```/.test(other));
      blocks.push({ kind: 'code', lines: lines.slice(at + 1, until) });
      at = until;
      continue;
    }
    const [, hashes, heading = ''] = /^(#{1,6})\s+(.*)$/.exec(line) ?? [];
    const [, marker = '', item] = LIST_ITEM.exec(line) ?? [];
    if (hashes !== undefined) blocks.push({ kind: 'heading', level: hashes.length, line: inlineOf(heading) });
    else if (item !== undefined) {
      const until = endOf(lines, at, (other) => LIST_ITEM.test(other));
      const items = lines.slice(at, until).map((other) => inlineOf(LIST_ITEM.exec(other)?.[2] ?? ''));
      blocks.push({ kind: 'list', ordered: /\d/.test(marker), items });
      at = until - 1;
    } else if (line.includes('|') && isRule(lines[at + 1] ?? '', cellsOf(line).length)) {
      const until = endOf(lines, at, (other) => other.includes('|'));
      const [head = [], , ...rows] = lines.slice(at, until).map((other) => cellsOf(other).map(inlineOf));
      blocks.push({ kind: 'table', head, rows });
      at = until - 1;
    } else if (line.trim() !== '') blocks.push({ kind: 'paragraph', line: inlineOf(line) });
  }
  return blocks;
}

/** The first line after this one that does not continue its block. */
function endOf(lines: readonly string[], at: number, continues: (line: string) => boolean): number {
  let end = at + 1;
  while (end < lines.length && continues(lines[end] ?? '')) end++;
  return end;
}

/** `\|` is no end of a cell. */
const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

/** Whether a line separates the head of a table from its rows. */
function isRule(line: string, columns: number): boolean {
  const cells = cellsOf(line);
  return cells.length === columns && cells.every((cell) => /^:?-+:?$/.test(cell));
}
