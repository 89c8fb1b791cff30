import { describe, expect, it } from 'vitest';
import { BatchBudget } from '../../transforms/worker/batch-budget.js';

const holding = (heldBytes: number) => ({ heldBytes });

describe('the memory of a worker', () => {
  it('is shared by the partitions that hold rows, and by them alone', () => {
    const budget = new BatchBudget();
    const alone = budget.share;
    const idle = Array.from({ length: 50 }, () => holding(1000));
    for (const each of idle) budget.join(each);
    expect(budget.share).toBe(alone);
    const busy = Array.from({ length: 8 }, () => holding(5e6));
    for (const each of busy) budget.join(each);
    expect(budget.share).toBeLessThan(alone);
    expect(budget.share * 8).toBe(112e6);
    for (const each of busy.slice(4)) budget.leave(each);
    expect(budget.share * 4).toBe(112e6);
    for (const each of busy) each.heldBytes = 0;
    expect(budget.share).toBe(alone);
  });

  it('is not all for one batch', () => {
    const budget = new BatchBudget();
    budget.join(holding(40e6));
    expect(budget.share).toBe(48e6);
  });
});
