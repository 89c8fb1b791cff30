import { readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { projectOf, testFiles } from '../projects.js';
import { partOf } from './page.js';
import type { Statement } from './statements.js';

/** A test that says in brackets at the end of its title which statements it shows. */
export interface ShowingTest {
  readonly file: string;
  readonly title: string;
  readonly shows: readonly string[];
}

/** The functions that define a test. One that is skipped (`it.skip`) shows nothing. */
const DEFINES_TEST = /^(it|concurrentIt)(\.each\b[\s\S]*)?$/;
const TITLE = /^['"`]([\s\S]*) \[(\d[^\]]*)\]['"`]$/;

/** The tests of `npm test` that show statements. */
export function showingTests(): ShowingTest[] {
  return testFiles()
    .filter((file) => ['fast', 'services'].includes(projectOf(file)))
    .flatMap((file) => testsIn(file, readFileSync(file, 'utf8')));
}

function testsIn(file: string, text: string): ShowingTest[] {
  const tests: ShowingTest[] = [];
  const visitor = new Visitor({
    CallExpression({ callee, arguments: [first] }) {
      if (!first || !DEFINES_TEST.test(text.slice(callee.start, callee.end))) return;
      const [, title, ids] = TITLE.exec(text.slice(first.start, first.end)) ?? [];
      if (title === undefined || ids === undefined) return;
      tests.push({ file, title: title.replaceAll(/\\(['"`])/g, '$1'), shows: ids.split(' ') });
    },
  });
  visitor.visit(parseSync(file, text).program);
  return tests;
}

/** docs/interface-coverage.md */
export function coverageTable(statements: readonly Statement[], tests: readonly ShowingTest[]): string {
  const links = (files: readonly string[]) => files.map((file) => `[${file}](../${file})`).join('<br>') || '—';
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  const rows = statements.map(({ id, says, client, exchange }) => {
    const shown = tests
      .filter(({ shows }) => shows.includes(id))
      .map(({ file, title }) => `${cell(title)} ([${file.split('/').at(-1)}](../${file}))`);
    return `| [${id}](interface.md#part-${partOf(id)}) | ${cell(says)} | ${links(client)} | ${links(exchange)} | ${shown.join('<br>')} |\n`;
  });
  return `# Coverage of the interface

Every statement of [the exchange's interface](interface.md): which files of Chancery and of the simulated exchange
implement it, and which tests show it. A test names the statements it shows in brackets at the end of its title; a statement that
no test names fails the test run. This page is made from the tests by \`npx vitest run test/interface --update\`.

${statements.length} statements, ${tests.length} tests.

| statement | what it says | on our side | in the simulated exchange | tests |
| --- | --- | --- | --- | --- |
${rows.join('')}`;
}
