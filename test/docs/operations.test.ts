import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { CollectorMetrics } from '../../collectors/metrics.js';
import { ExchangeMetrics } from '../../exchange/server/metrics.js';
import { TransformMetrics } from '../../transforms/worker/metrics.js';

const page = readFileSync('docs/operations.md', 'utf8');

/** The code of the product, without its tests. */
const sources = execFileSync('git', ['ls-files', '*.ts', ':!test', ':!bench'], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .map((path) => readFileSync(path, 'utf8'));

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
  it('lists every metric of ours with its labels, and no other', async () => {
    const registry = new Registry();
    new CollectorMetrics(registry);
    new TransformMetrics(
      registry,
      () => Promise.resolve(new Map()),
      () => 0,
    );
    const exchange = new ExchangeMetrics().registry;
    const registered = [...(await registry.getMetricsAsJSON()), ...(await exchange.getMetricsAsJSON())].map(
      ({ name }) => name,
    );
    // Those of `up` and of the embedded ClickHouse are made where they run.
    const named = sources.flatMap((text) => [...text.matchAll(/name: '(chancery_\w+)'/g)].map(([, name = '']) => name));
    const ours = new Set([...registered, ...named].filter((name) => name.startsWith('chancery_')));
    const listed = rows('metric').map(([name = '']) => name.replaceAll('`', ''));
    expect(listed.toSorted()).toEqual([...ours].toSorted());
  });

  it('quotes messages that the code has', () => {
    const all = sources.join('\n').replaceAll(/['`] \+\s*['`]/g, '');
    const quoted = rows('message').flatMap(([cell = '']) =>
      [...cell.matchAll(/`((?:\\`|[^`])+)`/g)].map(([, m = '']) => m),
    );
    expect(quoted.length).toBeGreaterThan(20);
    const pieces = quoted
      .flatMap((message) => message.split('…').map((piece) => piece.trim()))
      .filter((p) => p.length > 1);
    expect(pieces.filter((piece) => !all.includes(piece))).toEqual([]);
  });
});
