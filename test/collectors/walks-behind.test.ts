import { describe, expect, it } from 'vitest';
import { TOPICS } from '../../core/index.js';
import { startAccountMarket, traderOf } from '../support/account-market.js';
import { POLL_OFTEN } from './account-rig.js';
import { metricOf, startCollector } from './rig.js';

const ACCOUNTS = 27;
const FILLS = 350;
const PAGE_SIZE = 7;
const PAGES = FILLS / PAGE_SIZE;

describe('histories with many pages, beside the polls of many accounts that the rate does not allow', () => {
  it('take every second request until they are read, and the polls the others', async () => {
    const market = await startAccountMarket({ accounts: ACCOUNTS, quirks: `max-page-size=${PAGE_SIZE}` });
    market.fillInEngine(FILLS);
    const traders = market.exchange.ready.accounts.map((account) => traderOf(market.exchange, account));
    const rig = await startCollector(market.exchange.url, {
      settings: { ...POLL_OFTEN, requestsPerSecond: 100 },
      accounts: traders.map(({ credentials }) => credentials),
    });
    const { ann, bob } = market;
    const walks = ['activity activity', ...[ann, bob].flatMap(({ name }) => [`${name} trades`, `${name} orders`])];
    const polls = await rig.waitForEvents('poll', (found) => {
      const complete = found.filter(({ outcome }) => outcome === 'complete');
      const read = new Set(complete.map(({ subject, operation }) => `${subject} ${operation}`));
      return walks.every((walk) => read.has(walk));
    });
    const ends = walks.map((walk) => {
      const first = polls.find((poll) => walk === `${poll.subject} ${poll.operation}` && poll.outcome === 'complete');
      return first?.at ?? Number.POSITIVE_INFINITY;
    });
    const requests = (await rig.records(TOPICS.account)).filter(
      ({ kind, receivedAt, request }) =>
        receivedAt <= Math.max(...ends) && !kind.endsWith('-frame') && request['status'] === 200,
    );
    const isOfWalk = ({ request }: (typeof requests)[number]) =>
      walks.includes(`${String(request['account'] ?? 'activity')} ${String(request['operation'])}`);
    const others = requests.filter((request) => !isOfWalk(request));
    const pages = requests.length - others.length;
    expect(pages).toBeGreaterThanOrEqual(walks.length * PAGES);
    // The first page of every history of an account is the first walk's, so it has the same priority.
    const firstPages = 3 * ACCOUNTS;
    // While a walk reads its page, others take its turn: on a busy machine more of them. Without turns of its own it would
    // have one of thirty.
    expect(others.length).toBeLessThanOrEqual(4 * pages + 2 * firstPages);
    expect(others.length).toBeGreaterThanOrEqual(0.8 * pages);
    // None of the others waits longer than its turn among them.
    const balances = others.filter(({ request }) => request['operation'] === 'full-balances');
    const counts = traders.map(({ name }) => balances.filter(({ request }) => request['account'] === name).length);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    const behind = await metricOf(rig.metrics, 'walks_behind');
    expect(behind).toBe(0);
  });
});
