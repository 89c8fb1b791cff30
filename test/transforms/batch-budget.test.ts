import { describe, expect, it } from 'vitest';
import { BatchBudget } from '../../transforms/worker/batch-budget.js';

const user = (bytesInMemory: number, awaitsPieces = false) => ({ bytesInMemory, awaitsPieces });

describe('the memory of a worker', () => {
  it('is divided among the partitions that have rows', () => {
    const budget = new BatchBudget();
    const alone = budget.share;
    const idle = Array.from({ length: 50 }, () => user(1000));
    for (const each of idle) budget.add(each);
    expect(budget.share).toBe(alone);
    const busy = Array.from({ length: 8 }, () => user(5e6));
    for (const each of busy) budget.add(each);
    expect(budget.share).toBeLessThan(alone);
    expect(budget.share * 8).toBe(112e6);
    for (const each of busy.slice(4)) budget.remove(each);
    expect(budget.share * 4).toBe(112e6);
    for (const each of busy) each.bytesInMemory = 0;
    expect(budget.share).toBe(alone);
  });

  it('is not all available to one batch', () => {
    const budget = new BatchBudget();
    budget.add(user(40e6));
    expect(budget.share).toBe(48e6);
  });

  it('is for one partition at a time while it is used up: the first whose body waits for its pieces', async () => {
    const budget = new BatchBudget();
    const [rows, first, second] = [user(75e6), user(40e6, true), user(40e6, true)];
    budget.add(rows);
    budget.add(first);
    expect([rows, first, second].map((each) => budget.admits(each))).toEqual([true, true, true]);
    budget.add(second);
    expect(budget.admits(rows)).toBe(false);
    expect(budget.admits(first)).toBe(true);
    expect(budget.admits(second)).toBe(false);
    first.awaitsPieces = false;
    expect(budget.admits(first)).toBe(false);
    expect(budget.admits(second)).toBe(true);
    const { change } = budget;
    rows.bytesInMemory = 0;
    budget.changed();
    await change;
    expect([rows, first, second].map((each) => budget.admits(each))).toEqual([true, true, true]);
  });

  it('has a part for each partition while others use it up', () => {
    const budget = new BatchBudget();
    const [stopped, small, waiting] = [user(150e6), user(10e6), user(11e6)];
    for (const each of [stopped, small, waiting]) budget.add(each);
    expect([stopped, small, waiting].map((each) => budget.admits(each))).toEqual([false, true, false]);
  });

  it('is for another partition when the one that completes its body is revoked, and for all when the worker stops', () => {
    const budget = new BatchBudget();
    const [first, second, third] = [user(100e6, true), user(100e6, true), user(100e6, true)];
    for (const each of [first, second, third]) budget.add(each);
    expect([first, second].map((each) => budget.admits(each))).toEqual([true, false]);
    budget.remove(first);
    expect(budget.admits(second)).toBe(true);
    expect(budget.admits(third)).toBe(false);
    budget.stop();
    expect(budget.admits(third)).toBe(true);
  });
});
