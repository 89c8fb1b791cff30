import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type MetricObject, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { CollectorMetrics } from '../../collectors/metrics.js';
import { ExchangeMetrics } from '../../exchange/server/metrics.js';
import { TransformMetrics } from '../../transforms/worker/metrics.js';
import { errorMessages, quotes, wordsIn } from './error-messages.js';

const page = readFileSync('docs/operations.md', 'utf8');

/** The code of the product, without its tests. */
const files = execFileSync('git', ['ls-files', '*.ts', ':!test', ':!bench'], { encoding: 'utf8' }).trim().split('\n');
const sources = files.map((path) => readFileSync(path, 'utf8'));

/** What `cli/errors.ts` says for an error of the system. */
const systemErrors = [...readFileSync('cli/errors.ts', 'utf8').matchAll(/^ {2}E\w+: \['([^']+)'/gm)].map(
  ([, text = '']) => text,
);

/** What `TransportError` says of the exchange. */
const transportErrors = [
  ...readFileSync('client/errors/transport-error.ts', 'utf8').matchAll(/^ {2}'?[\w-]+'?:\s+'([^']+)'/gm),
].map(([, text = '']) => `…: the exchange ${text}…`);

/** Folders and files whose errors are for a programmer, with the reason. */
const NOT_FOR_OPERATORS = [
  ['client/rest/params.ts', 'arguments of the client'],
  ['client/trading/', 'arguments of the client'],
  ['client/account-client.ts', 'arguments of the client'],
  ['client/requester.ts', 'options of the client; settings are checked before'],
  ['client/auth/authorizer.ts', 'a call that needs other credentials than the client has'],
  ['viewer/dashboard-file.ts', 'the author of a dashboard'],
  ['viewer/dashboard-queries.ts', 'the author of a dashboard'],
  ['viewer/macros.ts', 'the author of a dashboard'],
  ['viewer/panel-query.ts', 'the author of a dashboard'],
  ['viewer/sql-text.ts', 'the author of a dashboard'],
  ['viewer/statement-macros.ts', 'the author of a dashboard'],
  ['viewer/time-override.ts', 'the author of a dashboard'],
  ['viewer/variable-options.ts', 'the author of a dashboard'],
  ['viewer/variables.ts', 'the author of a dashboard'],
  ['warehouse/schema/final.ts', 'the author of a view'],
  ['warehouse/schema/placeholders.ts', 'the author of a view'],
  ['warehouse/schema/shard-tables.ts', 'the author of a view'],
  ['warehouse/schema/sql-files.ts', 'the author of a migration or view'],
  ['warehouse/table.ts', 'the definition of a table in the code'],
  ['warehouse/cluster/copies.ts', 'the code of a cluster'],
] as const;

/** Files that pass on the message of a caller or of another process; no others may. */
const PASSED_ON = ['bus/errors.ts', 'core/process-lock.ts', 'viewer/dashboard-queries.ts', 'viewer/time-range.ts'];

/** Messages for a programmer. */
const NOT_ON_THE_PAGE = [
  ['table … has no versions', 'the definition of a table in the code'],
  ['the materialized view … has no TO clause', 'the author of a view'],
  ['migration … comes before …', 'the author of a migration'],
  ['….sql must be one statement that begins with', 'the author of a view'],
  ['topic … does not exist on …', 'every process creates the topics that it uses'],
  ['a record of … bytes for …', 'collectors divide a body that is larger than the limit'],
  ['the bus is closed', 'a use of a bus after its end'],
] as const;

/** A metric in code, with its labels. */
const CREATED = /name: '(chancery_\w+)'(?:,\n\s+help: [^\n]*,\n\s+labelNames: \[([^\]]*)\])?/g;
const metric = (name: string, labels: readonly string[]) => `${name.replaceAll('`', '')} {${labels.toSorted()}}`;

/** The rows of all tables whose head begins with `head`, as cells. */
function rows(head: string): string[][] {
  return page.split(`\n| ${head} |`).flatMap((table, i) =>
    i === 0
      ? []
      : table
          .split('\n')
          .slice(2)
          .slice(
            0,
            table
              .split('\n')
              .slice(2)
              .findIndex((line) => !line.startsWith('|')),
          )
          .map((line) =>
            line
              .split('|')
              .slice(1, -1)
              .map((cell) => cell.trim()),
          ),
  );
}

describe('docs/operations.md', () => {
  it('lists every metric of ours with its labels, and no other', () => {
    const registry = new Registry();
    new CollectorMetrics(registry);
    new TransformMetrics(
      registry,
      () => Promise.resolve(new Map()),
      () => 0,
    );
    const registered = [registry, new ExchangeMetrics().registry]
      .flatMap((each) => each.getMetricsAsArray() as (MetricObject & { labelNames: string[] })[])
      .map(({ name, labelNames }) => metric(name, labelNames));
    // The metrics of `up`, of the viewer and of the embedded ClickHouse are created at run time.
    const created = sources.flatMap((text) =>
      [...text.matchAll(CREATED)].map(([, name = '', labels = '']) => metric(name, labels.match(/\w+/g) ?? [])),
    );
    const ours = new Set([...registered, ...created].filter((line) => line.startsWith('chancery_')));
    const listed = rows('metric').map(([name = '', labels = '']) => metric(name, labels.match(/\w+/g) ?? []));
    expect(listed.toSorted()).toEqual([...ours].toSorted());
  });

  const messages = errorMessages(files);
  const quoted = rows('message').flatMap(([cell = '']) =>
    [...cell.matchAll(/(`+)(.+?)\1(?!`)/g)].map(([, , text = '']) => text.trim()),
  );

  it('quotes existing messages of the code', () => {
    expect(quoted.length).toBeGreaterThan(100);
    expect(quoted.filter((quote) => wordsIn(quote).length < 6)).toEqual([]);
    const unknown = quoted.filter(
      (quote) =>
        !messages.some(({ text }) => quotes(quote, text)) &&
        ![...systemErrors, ...transportErrors].some((text) => quotes(quote, text)),
    );
    expect(unknown).toEqual([]);
  });

  it('has every message that an operator can get', () => {
    expect(messages.length).toBeGreaterThan(150);
    const passedOn = messages.filter(({ text }) => wordsIn(text) === '').map(({ file }) => file);
    expect(passedOn.toSorted()).toEqual(PASSED_ON);
    const missing = messages
      .filter(({ text }) => wordsIn(text) !== '')
      .filter(({ file }) => !NOT_FOR_OPERATORS.some(([path]) => file.startsWith(path)))
      .filter(({ text }) => !NOT_ON_THE_PAGE.some(([quote]) => quotes(quote, text)))
      .filter(({ text }) => !quoted.some((quote) => quotes(quote, text)))
      .map(({ file, text }) => `${file}: ${text}`);
    expect(missing).toEqual([]);
  });

  it('has only existing exceptions', () => {
    const files = NOT_FOR_OPERATORS.filter(([path]) => !messages.some(({ file }) => file.startsWith(path)));
    const texts = NOT_ON_THE_PAGE.filter(([quote]) => !messages.some(({ text }) => quotes(quote, text)));
    expect([...files, ...texts]).toEqual([]);
  });
});
