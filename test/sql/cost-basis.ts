/** The result of folding one account's trades of one asset, computed with big integers, trade by trade. */
export interface Books {
  /** 10^-2 shares. */
  shares: bigint;
  /** By average cost, 10^-6 USDC. */
  cost: bigint;
  realised: bigint;
  /** Cost first in, first out, 10^-6 USDC. */
  fifoCost: bigint;
}

export interface Fill {
  readonly side: 'BUY' | 'SELL';
  /** 10^-2 shares. */
  readonly quantity: bigint;
  /** 10^-2 USDC. */
  readonly price: bigint;
}

/**
 * Without fees. By average cost a sale takes cost × sold ÷ held, rounded half to even to a millionth; first in, first out it
 * takes the oldest lots.
 */
export function booksOf(fills: Iterable<Fill>): Books {
  const books: Books = { shares: 0n, cost: 0n, realised: 0n, fifoCost: 0n };
  const lots: { quantity: bigint; readonly price: bigint }[] = [];
  for (const { side, quantity, price } of fills) {
    const value = quantity * price * 100n;
    if (side === 'BUY') {
      books.shares += quantity;
      books.cost += value;
      books.fifoCost += value;
      lots.push({ quantity, price });
      continue;
    }
    for (let left = quantity; left > 0n; ) {
      const [lot] = lots;
      if (lot === undefined) throw new Error('more was sold than was bought');
      const part = left < lot.quantity ? left : lot.quantity;
      lot.quantity -= part;
      left -= part;
      books.fifoCost -= part * lot.price * 100n;
      if (lot.quantity === 0n) lots.shift();
    }
    const leaving = roundHalfEven(books.cost * quantity, books.shares);
    books.shares -= quantity;
    books.cost -= leaving;
    books.realised += value - leaving;
  }
  return books;
}

function roundHalfEven(numerator: bigint, divisor: bigint): bigint {
  const down = numerator / divisor;
  const twice = (numerator % divisor) * 2n;
  return twice > divisor || (twice === divisor && down % 2n === 1n) ? down + 1n : down;
}

/** An integer of 10^-`decimals` as decimal text without redundant zeros, as ClickHouse writes it. */
export function decimalText(units: bigint, decimals: number): string {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}
