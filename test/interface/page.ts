import type { Field } from './fields.js';
import type { Part } from './parts.js';
import type { Statement } from './statements.js';

/** docs/interface.md */
export function interfacePage(
  parts: readonly Part[],
  statements: readonly Statement[],
  fields: Readonly<Record<string, readonly Field[]>>,
): string {
  const sections = parts.map(({ id, title, about }) => {
    const level = id.includes('.') ? '###' : '##';
    const own = statements
      .filter((statement) => partOf(statement.id) === id)
      .map(({ id: statementId, says }) => `**${statementId}** ${linked(says)}\n${table(fields[statementId] ?? [])}`);
    const introduction = about === undefined ? [] : [`${about}\n`];
    return [`<a id="part-${id}"></a>\n\n${level} ${id}. ${title}\n`, ...introduction, ...own].join('\n');
  });
  return `# The exchange's interface

What the exchange documents, in our own words, part by part. “Part 6.1” in code, tests and documents means the section
with that number. Names such as **6.1/subscribe** are those that tests have in brackets at the end of their titles;
[interface-coverage.md](interface-coverage.md) lists which files implement and which tests show each. Where something is “not
documented”, the client accepts every form that the documented parts allow, and [the simulated
exchange](../exchange/README.md) uses a form of its own. This page is made from \`test/interface/\` by \`npx vitest run test/interface --update\`.

${sections.join('\n')}`;
}

export const partOf = (statementId: string): string => statementId.split('/')[0] ?? '';

const linked = (text: string) => text.replaceAll(/\bpart (\d(?:\.\d)?)/g, '[part $1](#part-$1)');

function table(fields: readonly Field[]): string {
  if (fields.length === 0) return '';
  const rows = fields.map(([name, type, meaning]) => `| \`${name}\` | ${type} | ${meaning} |\n`);
  return `\n| name | type | meaning |\n| --- | --- | --- |\n${rows.join('')}`;
}
