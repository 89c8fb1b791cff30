// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Grafana writes a variable.

import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../core/index.js';
import type { AnnotationData, PanelData } from '../../viewer/dashboard-queries.js';
import type { ViewerServer } from '../../viewer/index.js';
import { exceeds } from '../../viewer/reader-grants.js';
import type { ResolvedVariable } from '../../viewer/variables.js';
import { useDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { dashboard, folderOf, panel, queryVariable, target } from './dashboards.js';
import { ask, connectAs, startViewer, view } from './viewer-rig.js';

const HOSTILE = ["it's", '\\', "\\' OR 1=1 -- ", '{variable_0:String}', '$__timeFilter(at)', '‮ evil', '%', ''];
const host = useDatabase({ migrated: false });
let viewer: ViewerServer;

const files = () => ({
  'prices.json': dashboard(
    'prices',
    [
      panel(
        1,
        'timeseries',
        'SELECT $__timeInterval(at) AS time, market, max(price) AS price FROM prices WHERE market IN (${market:singlequote}) GROUP BY time, market ORDER BY time, market',
      ),
      panel(2, 'table', 'SELECT * FROM prices WHERE market IN (${market:singlequote}) ORDER BY at, market'),
      panel(3, 'table', 'SELECT $market AS market'),
      panel(4, 'table', 'SELECT sleepEachRow(1), number FROM numbers(20) SETTINGS max_block_size = 1'),
      panel(5, 'piechart', 'SELECT 1'),
      panel(6, 'table', 'SELECT 1', { transformations: [{ id: 'groupBy', options: {} }] }),
      panel(7, 'table', 'SELECT nothing FROM prices'),
      panel(8, 'table', "SELECT '${note:raw}' AS note, '$note' AS same, ${note:singlequote} AS quoted"),
      panel(9, 'table', 'INSERT INTO prices SELECT now(), 1, 1'),
      panel(10, 'table', "SELECT '$market' AS market", { repeat: 'market' }),
      panel(11, 'table', "SELECT number, repeat('x', 900) AS text FROM numbers(4000)"),
      panel(14, 'table', 'SELECT number, randomPrintableASCII(5000) AS text FROM numbers(4000)'),
      panel(13, 'table', 'SELECT number, randomPrintableASCII(5000) AS text FROM numbers(3000)'),
      panel(15, 'table', 'SELECT toUnixTimestamp($__fromTime) AS began, toUnixTimestamp($__toTime) AS ended'),
      panel(16, 'table', 'SELECT 42 AS answer'),
      panel(17, 'table', 'SELECT ${failing:singlequote} AS value'),
      panel(
        18,
        'table',
        "SELECT toDecimal128('-1234567.123456789012', 12) AS amount, toUInt64('9007199254740993') AS number, toInt128('-123456789012345678901234567890') AS large, '=1' AS text, 1e-7 AS small, [toDecimal64('-1.5', 2), 7] AS list, map('1', 9007199254740993) AS counts",
      ),
      panel(12, 'table', 'SELECT count() AS n FROM numbers(1000000) WHERE sleepEachRow(0.00001) = 0'),
    ],
    {
      templating: {
        list: [
          queryVariable('market', 'SELECT DISTINCT market FROM prices ORDER BY market', {
            multi: true,
            includeAll: true,
          }),
          queryVariable(
            'chained',
            'SELECT price FROM prices WHERE market IN (${market:singlequote}) ORDER BY at LIMIT 1',
          ),
          queryVariable('failing', 'SELECT DISTINCT env FROM other_database.hosts'),
          { type: 'textbox', name: 'note', query: 'note' },
          { type: 'adhoc', name: 'filters' },
        ],
      },
      annotations: {
        list: [
          { name: 'A', target: target("SELECT at AS time, 'x' AS text FROM prices WHERE market = 'it''s'") },
          { name: 'B', target: target('SELECT at AS time FROM other_database.notes') },
        ],
      },
    },
  ),
  'broken.json': '{',
  'other.json': { hello: 1 },
  'same.json': dashboard('prices', []),
  'large.json': dashboard('large', [], { description: 'x'.repeat(2_000_001) }),
  'many.json': dashboard(
    'many',
    Array.from({ length: 201 }, (_, i) => panel(i + 1, 'table', 'SELECT 1')),
  ),
});

let folder = '';

beforeAll(async () => {
  const { database } = host;
  await database.run('CREATE TABLE prices (at DateTime, market String, price Float64) ENGINE = MergeTree ORDER BY at');
  const quoted = HOSTILE.map((value) => value.replaceAll('\\', '\\\\').replaceAll("'", "\\'"));
  await database.run(
    `INSERT INTO prices SELECT now() - 60 * number, arrayJoin([${quoted.map((one) => `'${one}'`).join(',')}]), number FROM numbers(20)`,
  );
  folder = folderOf(files());
  symlinkSync('/etc/passwd', join(folder, 'link.json'));
  viewer = await startViewer(database, folder);
  slowHeaders = sendHeadersSlowly(viewer);
});

/** What a client that sends a header every half second is answered, and when. */
let slowHeaders: Promise<{ readonly answer: string; readonly tookMs: number }>;

async function sendHeadersSlowly({ url }: ViewerServer) {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const startedAt = performance.now();
  socket.write(`GET /api/dashboards HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`);
  const dripping = setInterval(() => socket.write('X-Slow: 1\r\n'), 500);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  clearInterval(dripping);
  socket.destroy();
  return { answer: answer.toString(), tookMs: performance.now() - startedAt };
}

const post = async (path: string, body: unknown, headers: Record<string, string> = {}) =>
  ask(`${viewer.url}/api/dashboards/prices/${path}`, { body, headers });
const data = async (id: number, variables: Record<string, string[]> = {}): Promise<PanelData> => {
  const answer = await post(`panels/${id}/data`, view(variables));
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text) as PanelData;
};
const column = ({ frames }: PanelData, name: string) => frames[0]?.fields.find((field) => field.name === name)?.values;

/** A download that the test may leave. */
function exportOf(id: number, format: string, { url } = viewer): ClientRequest {
  const outgoing = request(`${url}/api/dashboards/prices/panels/${id}/export`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  outgoing.on('error', () => undefined);
  outgoing.end(JSON.stringify({ ...view(), format }));
  return outgoing;
}

/** Number of queries of slow panels that ClickHouse is running. */
async function running(): Promise<number> {
  const rows = await host.database.rows<{ n: number }>(
    `SELECT count() AS n FROM system.processes WHERE query LIKE '%sleepEachRow%' AND query NOT LIKE '%system.processes%' AND current_database = '${host.database.name}'`,
  );
  return rows[0]?.n ?? 0;
}

/** The queries of the reader that ClickHouse is running, besides those that end others. */
async function ofReader(): Promise<string[]> {
  const { name, reader } = host.database;
  const rows = await host.database.rows<{ query: string }>(
    `SELECT concat(query_kind, ' ', toString(elapsed), ' ', toString(is_cancelled), ': ', query) AS query FROM system.processes
     WHERE user = '${reader.user}' AND current_database = '${name}' AND query_kind != 'KillQuery' AND query NOT LIKE '%system.processes%'`,
  );
  return rows.map(({ query }) => query);
}

describe('the viewer', () => {
  it('sends the data of a panel: what ClickHouse returns for its SQL', async () => {
    const expected = await host.database.rows(
      "SELECT toUnixTimestamp(at) * 1000 AS at, market, price FROM prices WHERE market = 'it''s' ORDER BY at",
    );
    const shown = await data(2, { market: ["it's"] });
    expect(column(shown, 'at')).toEqual(expected.map((row) => row['at']));
    expect(column(shown, 'price')).toEqual(expected.map((row) => row['price']));
    const series = await data(1, { market: ["it's", '%'] });
    expect(series.frames[0]?.fields.map(({ kind, labels }) => labels?.['market'] ?? kind)).toEqual([
      'time',
      '%',
      "it's",
    ]);
  });

  it('reads regular files only, and lists those it cannot read with the reason', async () => {
    const { dashboards, problems } = JSON.parse((await ask(`${viewer.url}/api/dashboards`)).text) as {
      dashboards: { uid: string }[];
      problems: { file: string; reason: string }[];
    };
    expect(dashboards.map(({ uid }) => uid)).toEqual(['prices']);
    expect(Object.fromEntries(problems.map(({ file, reason }) => [file, reason]))).toMatchObject({
      'broken.json': expect.stringContaining('JSON'),
      'large.json': expect.stringContaining('larger than'),
      'link.json': 'it is not a regular file',
      'many.json': 'it has more than 200 panels',
      'other.json': expect.stringContaining('it is not a dashboard: title'),
      'same.json': 'it has the uid prices of prices.json',
    });
  });

  it('sends the page no SQL', async () => {
    const { text } = await ask(`${viewer.url}/api/dashboards/prices`);
    expect(text).toContain('Panel 1');
    expect(text).not.toMatch(/SELECT|rawSql/);
  });

  it('resolves variables one after the other, and keeps only values that are options', async () => {
    const answer = await post('variables', view({ market: ['no market', '%'], note: ['y'.repeat(300)] }));
    const { width: _, ...asked } = view({ market: ['no market', '%'], note: ['y'.repeat(300)] });
    expect(answer.status).toBe(400);
    const resolved = JSON.parse((await post('variables', asked)).text) as ResolvedVariable[];
    const byName = Object.fromEntries(resolved.map((one) => [one.name, one]));
    expect(byName['market']?.value).toEqual(['%']);
    expect(byName['market']?.options.map(({ value }) => value).sort()).toEqual([...HOSTILE].sort());
    expect(byName['chained']?.value).toEqual(['19']);
    expect(byName['note']?.value).toEqual(['y'.repeat(200)]);
    expect(byName['failing']?.problem).toMatch(/^its query failed: .*other_database/);
    expect(byName['filters']?.problem).toBe('variables of the type adhoc are not supported');
  });

  it('names what it does not support, and what is wrong with a query', async () => {
    const failure = async (id: number, variables = {}) => {
      const { status, text } = await post(`panels/${id}/data`, view(variables));
      expect(status).toBe(400);
      return (JSON.parse(text) as { error: string }).error;
    };
    expect(await failure(5)).toContain('panels of the type piechart');
    expect(await failure(6)).toContain('the transformation groupBy');
    expect(await failure(7)).toContain('nothing');
    expect(await failure(17)).toMatch(/^the variable failing has no value: its query failed: /);
    expect(await failure(17, { failing: ['production'] })).toMatch(/^the variable failing has no value/);
    expect(column(await data(16), 'answer')).toEqual([42]);
    expect(await failure(9)).toMatch(/readonly|privileges|DB::Exception|Cannot/i);
    expect((await post('panels/99/data', view())).status).toBe(404);
  });

  it('returns the same rows with parameters as the statement that it shows returns with literals', async () => {
    for (const market of HOSTILE) {
      const shown = await data(2, { market: [market] });
      expect(column(shown, 'market')).toEqual(new Array(20).fill(market));
      const [sql = ''] = (
        JSON.parse((await post('panels/2/sql', view({ market: [market] }))).text) as { statements: string[] }
      ).statements;
      const rows = await host.database.rows(sql, 'reader');
      expect(rows.map((row) => row['market'])).toEqual(column(shown, 'market'));
    }
  });

  it('leads to the console of an embedded ClickHouse with a statement of a panel, for pages on loopback only', async () => {
    const panel = '/api/dashboards/prices/panels/2';
    const body = view({ market: ['%'] });
    const query = new URLSearchParams({ request: JSON.stringify(body), statement: '0' });
    const consoleUrl = async () => host.database.reader.url;
    const withConsole = await startViewer(host.database, folder, { consoleUrl });
    const shown = await ask(`${withConsole.url}${panel}/sql`, { body });
    const { statements, hasConsole } = JSON.parse(shown.text) as { statements: string[]; hasConsole: boolean };
    expect(hasConsole).toBe(true);
    const { status, headers } = await ask(`${withConsole.url}${panel}/console?${query}`);
    const [address, encoded = ''] = String(headers['location']).split('#');
    expect([status, address]).toEqual([303, `${host.database.reader.url}/play?user=reader`]);
    expect(Buffer.from(encoded, 'base64').toString('utf8')).toBe(statements[0]);
    const refused = async (url: string, more: Record<string, string> = {}, asked = query) =>
      (await ask(`${url}${panel}/console?${asked}`, { headers: more })).status;
    expect(await refused(withConsole.url, { 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await refused(withConsole.url, {}, new URLSearchParams({ request: '{', statement: '0' }))).toBe(400);
    expect(
      await refused(withConsole.url, {}, new URLSearchParams({ request: JSON.stringify(body), statement: '1' })),
    ).toBe(404);
    const behindProxy = await startViewer(host.database, folder, { consoleUrl, publicUrl: 'https://market.example' });
    for (const other of [viewer, behindProxy]) expect(await refused(`http://127.0.0.1:${other.port}`)).toBe(404);
    expect(JSON.parse((await post('panels/2/sql', body)).text)).toMatchObject({ hasConsole: false });
  });

  it('sends the complete result of a panel as CSV and as Parquet', async () => {
    const body = (format: string) => ({ ...view({ market: ['%', '\\'] }), format });
    const csv = await post('panels/2/export', body('csv'));
    expect(csv.headers['content-disposition']).toBe('attachment; filename="prices-2.csv"');
    const [head, first, ...others] = csv.text.split('\r\n');
    expect(head).toBe('at,market,price');
    expect(first).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ,[%\\],19$/);
    expect(others).toHaveLength(40);
    const parquet = await post('panels/2/export', body('parquet'));
    expect([parquet.status, parquet.text.slice(0, 4), parquet.text.slice(-4)]).toEqual([200, 'PAR1', 'PAR1']);
    expect((await post('panels/7/export', body('csv'))).status).toBe(400);
    expect((await post('panels/2/export', body('xlsx'))).status).toBe(400);
    expect((await post('panels/2/export', { ...body('csv'), variables: { market: ['x'] } })).status).toBe(400);
  });

  it('sends numbers as CSV with all of their digits', async () => {
    const { text } = await post('panels/18/export', { ...view(), format: 'csv' });
    expect(text.split('\r\n')).toEqual([
      'amount,number,large,text,small,list,counts',
      `-1234567.123456789012,9007199254740993,-123456789012345678901234567890,'=1,1e-7,"[-1.5,7]","{""1"":""9007199254740993""}"`,
      '',
    ]);
  });

  it('sends a file, and shows SQL, of the time that was drawn', async () => {
    const nowMs = Date.UTC(2026, 10, 21, 10);
    const body = { ...view(), nowMs };
    const { text } = await post('panels/15/export', { ...body, format: 'csv' });
    expect(text.split('\r\n')[1]).toBe(`${nowMs / 1000 - 3600},${nowMs / 1000}`);
    expect((await post('panels/15/sql', body)).text).toContain(`${nowMs / 1000}`);
    const drawn = await data(15);
    expect(column(drawn, 'ended')).toEqual([Math.floor(drawn.nowMs / 1000)]);
  });

  /** Two more can be sent at a time. */
  const downloadsEnded = () =>
    until(async () => {
      const two = await Promise.all([1, 2].map(() => post('panels/2/export', { ...view(), format: 'csv' })));
      return two.every(({ status }) => status === 200);
    });

  it('sends two downloads at a time', async () => {
    const slow = Array.from({ length: 2 }, () => exportOf(4, 'csv'));
    const third = async () => (await post('panels/2/export', { ...view(), format: 'csv' })).status;
    await until(async () => (await third()) === 429);
    await until(async () => (await running()) === 2);
    for (const outgoing of slow) outgoing.destroy();
    await until(async () => (await running()) === 0);
    await downloadsEnded();
  });

  it.each(['csv', 'parquet'])('sends a download in parts, and stops when the client leaves (%s)', async (format) => {
    const left = await Promise.all(
      [1, 2].map(async () => {
        const asked = exportOf(13, format);
        const [incoming] = (await once(asked, 'response')) as [IncomingMessage];
        expect(incoming.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
        await once(incoming, 'data');
        asked.destroy();
        return incoming.complete;
      }),
    );
    expect(left).toEqual([false, false]);
    await until(async () => (await running()) === 0);
    await downloadsEnded();
  });

  describe.each(['csv', 'parquet'])('counts a download that is not read (%s)', (format) => {
    /** A viewer with a client that has read nothing but the head of a large file. */
    const stalled = async (readWithinMs: number) => {
      const own = await startViewer(host.database, folderOf(files()), { readWithinMs });
      const asked = exportOf(14, format, own);
      const [incoming] = (await once(asked, 'response')) as [IncomingMessage];
      incoming.on('error', () => undefined);
      incoming.pause();
      return { own, asked, incoming };
    };

    it('as a query in flight until the client leaves, and kills it', async () => {
      const { own, asked } = await stalled(600_000);
      await delay(200);
      expect(own.running).toBe(1);
      asked.destroy();
      await until(() => own.running === 0);
      expect(await ofReader()).toEqual([]);
    });

    it('until the time to read is up: the client is disconnected, and another may download', async () => {
      const { own, incoming } = await stalled(300);
      expect(own.running).toBe(1);
      await until(() => own.running === 0);
      expect(await ofReader()).toEqual([]);
      const next = exportOf(2, format, own);
      const [answer] = (await once(next, 'response')) as [IncomingMessage];
      expect(answer.statusCode).toBe(200);
      answer.resume();
      const closed = new Promise((resolve) => incoming.once('close', resolve));
      incoming.resume();
      await closed;
      expect(incoming.complete).toBe(false);
    });

    it('not against a client that reads slowly but steadily', async () => {
      const { own, incoming } = await stalled(1000);
      const slowly = setInterval(() => {
        incoming.resume();
        setImmediate(() => incoming.pause());
      }, 5);
      await once(incoming, 'end');
      clearInterval(slowly);
      expect(incoming.complete).toBe(true);
      await until(() => own.running === 0);
    });
  });

  it('has the annotations of its range, and the reason of one that fails', async () => {
    const { width: _, ...asked } = view();
    const [shown, failed] = JSON.parse((await post('annotations', asked)).text) as AnnotationData[];
    expect(shown?.frame?.fields[0]?.values).toHaveLength(20);
    expect(failed).toEqual({ name: 'B', color: 'red', problem: expect.stringContaining('other_database') });
  });
});

describe('the viewer refuses', () => {
  it('requests under another Host, from another Origin, and cross-site ones', async () => {
    const url = `${viewer.url}/api/dashboards`;
    const { port } = new URL(viewer.url);
    for (const [headers, status] of [
      [{}, 200],
      [{ host: `localhost:${port}` }, 200],
      [{ origin: viewer.url, 'sec-fetch-site': 'same-origin' }, 200],
      [{ 'sec-fetch-site': 'none' }, 200],
      [{ host: `evil.example:${port}` }, 403],
      [{ host: 'evil.example' }, 403],
      [{ host: `127.0.0.1.evil.example:${port}` }, 403],
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ origin: `http://localhost:${port}` }, 403],
      [{ 'sec-fetch-site': 'cross-site' }, 403],
      [{ 'sec-fetch-site': 'same-site' }, 403],
    ] as const) {
      expect((await ask(url, { headers })).status, JSON.stringify(headers)).toBe(status);
      const { width: _, ...body } = view();
      const posted = await ask(`${url}/prices/annotations`, { headers, body });
      expect(posted.status, JSON.stringify(headers)).toBe(status);
    }
    expect((await ask(viewer.url, { headers: { host: 'evil.example' } })).status).toBe(403);
  });

  it('values that are not among the options of their variable, also those of other variables', async () => {
    for (const variables of [
      { market: ["x' OR 1=1 -- "] },
      { market: ['%', "x' OR 1=1 -- "] },
      { market: ['\\'.repeat(3)] },
      { chained: ['1 UNION ALL SELECT 2'] },
      { nothing: ['1'] },
      { __proto__x: ['1'] },
      { note: ['$__all'] },
    ]) {
      const { status, text } = await post('panels/2/data', view(variables));
      expect(status, JSON.stringify(variables)).toBe(400);
      expect(text).toMatch(/is not one of its options|has no variable|not the text/);
    }
  });

  it('a repetition for a value that is not an option, or over a variable over which nothing is repeated', async () => {
    const asked = (scope: Record<string, unknown>) => post('panels/10/data', { ...view(), scope });
    expect((await asked({ market: "it's" })).text).toContain(`"it's"`);
    for (const scope of [
      { market: 'x' },
      { market: '$__all' },
      { note: 'note' },
      { chained: '19' },
      { market: ["it's"] },
    ])
      expect((await asked(scope)).status, JSON.stringify(scope)).toBe(400);
  });

  it('to insert a text into SQL, and sends it as a value where it is a whole literal', async () => {
    const { status, text } = await post('panels/3/data', view({ market: ["it's"] }));
    expect({ status, text }).toMatchObject({ status: 200 });
    for (const note of ["' UNION ALL SELECT 'x", '\\', "\\'); DROP TABLE prices; --", '${market}']) {
      const shown = await data(8, { note: [note] });
      for (const name of ['note', 'same', 'quoted']) expect(column(shown, name)).toEqual([note]);
    }
  });

  it('requests that are not of its form: SQL, paths, bodies that are large', async () => {
    for (const body of [{ sql: 'SELECT 1' }, { ...view(), sql: 'SELECT 1' }, { ...view(), from: 'yesterday' }, [], 'x'])
      expect((await post('panels/2/data', body)).status).toBe(400);
    expect((await post('panels/2/data', { ...view(), from: 'x'.repeat(70_000) })).status).toBe(413);
    for (const path of ['/../package.json', '/%2e%2e/package.json', '/app.js.map', '/d/../../etc/passwd'])
      expect([404, 200]).toContain((await ask(`${viewer.url}${path}`)).status);
    expect((await ask(`${viewer.url}/%2e%2e/package.json`)).text).not.toContain('dependencies');
    expect((await ask(`${viewer.url}/api/dashboards/..%2fprices`)).status).toBe(404);
  });

  it('a client that has not sent its headers within five seconds', async () => {
    const { answer, tookMs } = await slowHeaders;
    expect(answer).toContain('408 ');
    expect(tookMs).toBeLessThan(8000);
  });

  it('nothing of a range of 100 years', async () => {
    const range = { from: '0', to: String(Date.now()) };
    expect((await post('panels/1/data', view({}, range))).status).toBe(200);
    expect((await post('panels/1/data', view({}, { from: 'now-999999999w', to: 'now' }))).status).toBe(400);
  });
});

describe('the viewer', () => {
  it('forbids its pages everything but its own script, style and data', async () => {
    const { headers } = await ask(viewer.url);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; img-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });

  it('says that there is no page at an address, to a browser as a page and to programs as JSON', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const page = await ask(`${viewer.url}/nosuchpage`, { headers: { accept } });
    expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.text).toContain('There is no such page');
    expect(page.text).toContain('<a href="/">');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    for (const [path, headers] of [
      ['/nosuchpage', {}],
      ['/api/nothing', { accept }],
    ] as const) {
      const { status, text } = await ask(`${viewer.url}${path}`, { headers });
      expect([status, JSON.parse(text)]).toEqual([404, { error: 'there is nothing at this address' }]);
    }
  });

  it('runs at most four queries at once, equal ones once, and cancels those of clients that left', async () => {
    const requests = Array.from({ length: 12 }, (_, i) => {
      const outgoing = request(`${viewer.url}/api/dashboards/prices/panels/4/data`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      outgoing.on('error', () => undefined);
      outgoing.end(JSON.stringify(view({}, { from: `now-${1 + (i % 6)}h`, to: 'now' })));
      return outgoing;
    });
    await until(async () => (await running()) === 4);
    expect(viewer.running).toBe(4);
    const left = performance.now();
    for (const outgoing of requests) outgoing.destroy();
    await until(async () => (await running()) === 0);
    await until(() => viewer.running === 0);
    // They take 20 s, or 10 s where the server cannot be told to kill them.
    expect(performance.now() - left).toBeLessThan(8000);
  });

  it('asks nothing more for a page that reloads 50 times a second than for one that is open', async () => {
    const body = view({}, { from: 'now-7h', to: 'now' });
    const reload = async () => {
      const paths = ['data', 'sql'].map((part) => `panels/12/${part}`);
      const asked = paths.map((path) => {
        const outgoing = request(`${viewer.url}/api/dashboards/prices/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
        });
        outgoing.on('error', () => undefined);
        outgoing.end(JSON.stringify({ ...body, refreshMs: 60_000 }));
        return outgoing;
      });
      await delay(20);
      return asked;
    };
    const most: { running: number; queries: string[] } = { running: 0, queries: [] };
    for (let i = 0; i < 50; i++) {
      const asked = await reload();
      most.running = Math.max(most.running, viewer.running);
      if (i % 10 < 2) {
        const queries = await ofReader();
        if (queries.length > most.queries.length) most.queries = queries;
      }
      for (const outgoing of asked) outgoing.destroy();
    }
    expect(most.running).toBeLessThanOrEqual(4);
    expect(most.queries).not.toEqual([]);
    expect(most.queries.slice(4)).toEqual([]);
    await until(() => viewer.running === 0);
    await until(async () => (await running()) === 0);
    expect((await post('panels/2/data', view())).status).toBe(200);
  });

  it('disconnects a client that does not read its answer, and answers others', async () => {
    const slow = await startViewer(host.database, folderOf(files()), { readWithinMs: 1000 });
    const { port } = new URL(slow.url);
    const body = JSON.stringify(view());
    const socket = connect(Number(port), '127.0.0.1');
    socket.pause();
    socket.on('error', () => undefined);
    const path = '/api/dashboards/prices/panels/11/data';
    const asked = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    // More than the system takes for a client.
    socket.write(asked.repeat(3));
    await until(() => slow.unread > 3_000_000);
    expect((await ask(`${slow.url}/api/dashboards/prices/panels/2/data`, { body: view() })).status).toBe(200);
    await until(() => slow.unread === 0);
    let read = 0;
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    socket.resume();
    await once(socket, 'close');
    expect(read).toBeLessThan(10_000_000);
  });

  it('does not show a result that is larger than a panel may have, and downloads it', async () => {
    const { status, text } = await post('panels/14/data', view());
    expect([status, text]).toEqual([400, expect.stringContaining('the result is larger than 4 MB')]);
    const file = await post('panels/14/export', { ...view(), format: 'csv' });
    expect(file.text.length).toBeGreaterThan(20_000_000);
  });

  it('compresses answers for clients that accept it', async () => {
    const url = `${viewer.url}/api/dashboards/prices/panels/2/data`;
    const body = view({ market: HOSTILE });
    const plain = await ask(url, { body });
    const compressed = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip' },
      body: JSON.stringify(body),
    });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(plain.text.length / 2);
    const fields = (text: string) => (JSON.parse(text) as PanelData).frames[0]?.fields;
    expect(fields(await compressed.text())).toEqual(fields(plain.text));
  });

  it('asks a query once for 200 viewers of one dashboard, and again after the refresh interval', async () => {
    const connect = connectAs(host.database, 'reader');
    let nowMs = 1_800_000_000_123;
    let queries = 0;
    const shared = await startViewer(host.database, folderOf(files()), {
      clock: { ...systemClock, nowMs: () => nowMs },
      connect: async () => {
        const { client, close } = await connect();
        const counted: typeof client.exec = (asked) => {
          if (asked.query.includes('ORDER BY at, market')) queries++;
          return client.exec(asked);
        };
        return {
          client: new Proxy(client, { get: (of, key) => (key === 'exec' ? counted : Reflect.get(of, key)) }),
          close,
        };
      },
    });
    const body = { ...view({ market: ["it's"] }), refreshMs: 5000 };
    const refresh = () =>
      Promise.all(
        Array.from({ length: 200 }, () => ask(`${shared.url}/api/dashboards/prices/panels/2/data`, { body })),
      );
    const answers = await refresh();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    nowMs += 4800;
    await refresh();
    expect(queries).toBe(1);
    nowMs += 200;
    await refresh();
    expect(queries).toBe(2);
    expect(shared.running).toBe(0);
  });

  it('asks for its token where it has one, and gives a session for it', async () => {
    const guarded = await startViewer(host.database, folderOf(files()), { token: 'the token of this test' });
    const url = `${guarded.url}/api/dashboards`;
    expect((await ask(guarded.url)).status).toBe(200);
    expect((await ask(url)).status).toBe(401);
    expect((await ask(`${url}?token=the+token+of+this+test`)).status).toBe(401);
    const login = (token: string) => ask(`${guarded.url}/api/login`, { body: { token } });
    expect((await login('another')).status).toBe(401);
    const { status, headers } = await login('the token of this test');
    expect(status).toBe(200);
    const [cookie = ''] = headers['set-cookie'] ?? [];
    const [, name = ''] =
      /^(chancery_viewer_[0-9a-f]{8})=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/.exec(cookie) ?? [];
    const session = cookie.split(';')[0] ?? '';
    expect((await ask(url, { headers: { cookie: session } })).status).toBe(200);
    expect((await ask(url, { headers: { cookie: `${name}=guess` } })).status).toBe(401);
    // A viewer with another token on the same host: its cookie has another name, so that a browser keeps both.
    const other = await startViewer(host.database, folderOf(files()), { token: 'another token' });
    const [others = ''] =
      (await ask(`${other.url}/api/login`, { body: { token: 'another token' } })).headers['set-cookie'] ?? [];
    expect(others).not.toContain(`${name}=`);
    const both = `${others.split(';')[0] ?? ''}; ${session}`;
    for (const { url: address } of [guarded, other]) {
      expect((await ask(`${address}/api/dashboards`, { headers: { cookie: both } })).status).toBe(200);
    }
    for (let i = 0; i < 9; i++) expect((await login('another')).status).toBe(401);
    expect((await login('the token of this test')).status).toBe(429);
  });
});

describe('the viewer on another address than loopback', () => {
  it('does not start without its token', async () => {
    const started = startViewer(host.database, folderOf(files()), { host: '0.0.0.0' });
    await expect(started).rejects.toThrow('does not listen on 0.0.0.0 without its token');
  });

  it('answers under IP addresses and its public address only, and sends the cookie over TLS only behind a proxy', async () => {
    const publicUrl = 'https://chancery.example';
    const options = { host: '0.0.0.0', token: 'the token', publicUrl };
    const open = await startViewer(host.database, folderOf(files()), options);
    expect(open.url).toBe(publicUrl);
    const port = String(open.port);
    const login = (headers: Record<string, string>, token = 'the token') =>
      ask(`http://127.0.0.1:${port}/api/login`, { headers, body: { token } });
    for (const [headers, status] of [
      [{ host: `192.0.2.7:${port}`, origin: `http://192.0.2.7:${port}` }, 200],
      [{ host: `[2001:db8::1]:${port}` }, 200],
      [{ host: 'chancery.example', origin: publicUrl }, 200],
      [{ host: 'chancery.example', origin: 'https://evil.example' }, 403],
      [{ host: `192.0.2.7:${port}`, origin: `http://192.0.2.8:${port}` }, 403],
      [{ host: '192.0.2.7:1' }, 403],
      [{ host: `192.0.2.7.evil.example:${port}` }, 403],
      [{ host: `evil.example:${port}` }, 403],
    ] as const)
      expect((await login(headers)).status, JSON.stringify(headers)).toBe(status);
    expect((await login({})).headers['set-cookie']?.[0]).toMatch(/; HttpOnly; SameSite=Strict; Path=\/; Secure$/);
    expect((await ask(`http://127.0.0.1:${port}/api/dashboards`)).status).toBe(401);
  });

  it('refuses addresses of others on loopback', async () => {
    const { port } = new URL(viewer.url);
    expect((await ask(`${viewer.url}/api/dashboards`, { headers: { host: `192.0.2.7:${port}` } })).status).toBe(403);
  });
});

describe('dashboards of another folder', () => {
  const shown = async (options: Parameters<typeof startViewer>[2]) => {
    const { url } = await startViewer(host.database, folderOf(files()), options);
    return ask(`${url}/api/dashboards/prices/panels/8/data`, { body: view() });
  };

  it('are not drawn as a user that may do more than read the databases of Chancery', async () => {
    const { status, text } = await shown({ databases: ['chancery'] });
    expect([status, text]).toEqual([400, expect.stringContaining('more than SELECT on them: GRANT')]);
    const owner = await shown({ connect: connectAs(host.database, 'owner') });
    expect([owner.status, owner.text]).toEqual([400, expect.stringContaining('more than SELECT')]);
    expect((await shown({})).status).toBe(200);
  });

  it('are not drawn by a ClickHouse that is not restricted to its own files', async () => {
    const connect = async () => ({ ...(await connectAs(host.database, 'reader')()), unconfined: 'no Landlock' });
    expect(await shown({ connect })).toMatchObject({ status: 400, text: expect.stringContaining('(no Landlock)') });
  });

  it.each([
    ['GRANT SELECT ON chancery.* TO reader', false],
    ['GRANT SHOW, SELECT ON chancery.* TO reader', false],
    ['GRANT SELECT(time, price) ON chancery.ticks TO reader', false],
    ['GRANT USAGE ON *.* TO reader', false],
    ['REVOKE SELECT ON chancery.raw_records FROM reader', false],
    ['GRANT SELECT ON *.* TO reader', true],
    ['GRANT SELECT(query, query_id, user) ON system.processes TO reader', false],
    ['GRANT SELECT ON system.* TO reader', true],
    ['GRANT SELECT, INSERT ON chancery.* TO reader', true],
    ['GRANT SELECT ON chancery.* TO reader WITH GRANT OPTION', true],
    ['GRANT READ ON FILE TO reader', true],
    ['GRANT admin TO reader', true],
    ['GRANT ALL ON chancery.* TO reader', true],
  ])('%s: %s', (line, more) => expect(exceeds(line, ['chancery'])).toBe(more));
});
