import { describe, expect, it, onTestFinished } from 'vitest';
import { startClickHouse } from '../support/clickhouse.js';
import { runAs } from '../support/run-as.js';
import { until } from '../support/until.js';
import { openHalf } from './half-open-connections.js';

const CONNECTIONS = 6000;
const STAND_MS = 8000;
const RESUME_MS = 15_000;

describe('the embedded ClickHouse', () => {
  it('survives 6,000 connections that send no login, and accepts inserts within 15 s of the last one', async () => {
    const clickhouse = await startClickHouse({ memoryBytes: 1e9 });
    onTestFinished(() => clickhouse.stop());
    await clickhouse.run('CREATE DATABASE chancery');
    await clickhouse.run('CREATE TABLE chancery.t (a UInt64) ENGINE = MergeTree ORDER BY a');
    const { pid, url } = clickhouse.endpoint;
    const half = openHalf(Number(new URL(url).port), CONNECTIONS, STAND_MS);
    onTestFinished(() => half.close());
    expect(await half.last).toBeGreaterThanOrEqual(CONNECTIONS);
    const since = performance.now();
    await until(() => clickhouse.run('INSERT INTO chancery.t VALUES (1)').then(() => true, String), RESUME_MS);
    expect(performance.now() - since).toBeLessThan(RESUME_MS);
    expect(clickhouse.server.health.restarts).toBe(0);
    expect(clickhouse.endpoint.pid).toBe(pid);
  });

  it('limits the memory of all queries of the reader together', async () => {
    const clickhouse = await startClickHouse({ memoryBytes: 1e9 });
    onTestFinished(() => clickhouse.stop());
    await clickhouse.run('CREATE DATABASE chancery');
    const reader = (sql: string) => runAs(clickhouse.endpoint.reader, sql);
    const some = 'SELECT uniqExact(number) FROM numbers(3000000) SETTINGS max_threads = 1';
    expect(await reader(some)).toBe('3000000\n');
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => reader(some)));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
    expect(refused.filter((reason) => reason.includes('User memory limit exceeded')).length).toBeGreaterThan(0);
    expect(refused.filter((reason) => !/(User|Query) memory limit exceeded/.test(reason))).toEqual([]);
    expect(clickhouse.server.health.restarts).toBe(0);
  });
});
