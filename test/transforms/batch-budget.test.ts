import { describe, expect, it } from 'vitest';
import { BatchBudget } from '../../transforms/worker/batch-budget.js';

const user = (bytesInMemory: number) => ({ bytesInMemory });

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
});
