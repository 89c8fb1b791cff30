import { describe, expect, it, onTestFinished } from 'vitest';
import { ExchangeClient, type WalkOptions, type WalkReport } from '../../client/index.js';
import { type SeenRequest, script } from './support.js';

const events = (...ids: number[]) => ids.map((n) => ({ id: `e${n}`, title: `Event ${n}`, outcomes: [] }));
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

type Answer = (page: number, size: number, request: SeenRequest) => unknown;

async function walk(
  answer: Answer,
  options: WalkOptions = {},
): Promise<{ report: WalkReport; ids: string[]; pages: number }> {
  const { base, seen } = await script((response, request) => {
    const url = new URL(request.url, 'http://x');
    response.end(
      JSON.stringify(answer(Number(url.searchParams.get('page')), Number(url.searchParams.get('size')), request)),
    );
  });
  const client = new ExchangeClient({ addresses: { base }, requestsPerSecond: 10_000 });
  onTestFinished(() => client.close());
  const pages = client.walkEvents({}, { pageSize: 10, ...options });
  const ids: string[] = [];
  for await (const page of pages) ids.push(...page.items.map((event) => event.eventId));
  return { report: pages.report, ids, pages: seen.length };
}

/** Pages of a list, in the wrapper of event search. */
const content = (list: readonly unknown[], page: number, size: number) => ({
  content: list.slice(page * size, (page + 1) * size),
  totalElements: list.length,
  totalPages: Math.ceil(list.length / size),
});

describe('walking all pages of event search', () => {
  const all = events(...range(0, 25));
  const wholeReport = {
    expectedItems: 25,
    receivedItems: 25,
    distinctItems: 25,
    invalid: 0,
    pages: 3,
    shifted: false,
    truncated: false,
    complete: true,
    cause: '',
  };

  it('reads every event once, oldest first, and requests no superfluous page [4.5/page]', async () => {
    const { report, ids, pages } = await walk((page, size, request) => {
      expect(JSON.parse(request.body)).toEqual({ sb: 'OLDEST' });
      return content(all, page, size);
    });
    expect(ids).toEqual(all.map((e) => e.id));
    expect(pages).toBe(3);
    expect(report).toEqual(wholeReport);
  });

  it('follows an exchange that reduces the page size [8/open]', async () => {
    const { report, ids } = await walk((page) => content(all, page, 4));
    expect(ids.length).toBe(25);
    expect(report).toMatchObject({ ...wholeReport, pages: 7 });
  });

  it('reads {i,p,s,tp} pages and bare arrays, with nothing expected where no total is given', async () => {
    const paged = await walk((page, size) => ({
      i: all.slice(page * size, (page + 1) * size),
      p: page,
      s: size,
      tp: 3,
    }));
    expect(paged.report).toMatchObject({ expectedItems: null, distinctItems: 25, pages: 3, complete: true });
    const bare = await walk((page, size) => all.slice(page * size, (page + 1) * size));
    expect(bare.report).toMatchObject({ expectedItems: null, distinctItems: 25, pages: 4, complete: true });
  });

  it('ends when an exchange without totals returns the same page for every number', async () => {
    const { report } = await walk(() => events(1, 2, 3));
    expect(report).toMatchObject({ distinctItems: 3, pages: 2, shifted: false, truncated: false, complete: true });
  });

  it('continues after a page that only repeats the former one, when there is no total', async () => {
    const { report, ids } = await walk((page) => (page === 0 ? [all[0]] : [undefined, ...all].slice(page, page + 1)));
    expect(ids.length).toBe(26);
    expect(report).toMatchObject({
      distinctItems: 25,
      shifted: true,
      complete: false,
      cause: '1 items were received twice',
    });
  });

  it('notices an event that was pushed onto the next page by a new one', async () => {
    const { report } = await walk((page, size) => content(page === 0 ? all : events(99, ...range(0, 25)), page, size));
    expect(report).toMatchObject({
      expectedItems: 26,
      receivedItems: 26,
      distinctItems: 25,
      shifted: true,
      complete: false,
    });
    expect(report.cause).toBe('1 items were received twice; the total changed while pages were read');
  });

  it('notices an event that moved to a page that was already read', async () => {
    const { report } = await walk((page, size) => content(page === 0 ? all : all.slice(1), page, size));
    expect(report).toMatchObject({
      expectedItems: 24,
      receivedItems: 24,
      distinctItems: 24,
      shifted: true,
      complete: false,
    });
    expect(report.cause).toBe('the total changed while pages were read');
  });

  it('notices a total that differs from the pages', async () => {
    const { report } = await walk((page, size) => ({ ...content(all, page, size), totalElements: 30 }));
    expect(report).toMatchObject({ expectedItems: 30, distinctItems: 25, shifted: false, complete: false });
    expect(report.cause).toBe('25 items were read where the exchange says 30');
  });

  it('counts entries that could not be understood', async () => {
    const { report } = await walk((page, size) => content([...events(1, 2), { title: 'no ID' }], page, size));
    expect(report).toMatchObject({ expectedItems: 3, receivedItems: 3, distinctItems: 2, invalid: 1, complete: false });
    expect(report.cause).toBe('1 entries could not be understood');
  });

  it('reports that it was ended early by its limit or its reader', async () => {
    const limited = await walk((page, size) => content(all, page, size), { maxPages: 2 });
    expect(limited.report).toMatchObject({
      pages: 2,
      truncated: true,
      complete: false,
      cause: 'the walk ended before the last page',
    });
    const { base } = await script((response) => response.end(JSON.stringify(content(all, 0, 10))));
    const client = new ExchangeClient({ addresses: { base } });
    onTestFinished(() => client.close());
    const pages = client.walkEvents({}, { pageSize: 10 });
    for await (const _ of pages) break;
    expect(pages.report).toMatchObject({ pages: 1, truncated: true, complete: false });
  });

  it('is complete for an exchange without events', async () => {
    const { report } = await walk(() => ({ content: [], totalElements: 0, totalPages: 0 }));
    expect(report).toMatchObject({ expectedItems: 0, receivedItems: 0, distinctItems: 0, pages: 1, complete: true });
  });
});
