/** What a fold over one account's trades of one asset comes to, worked out with big integers, trade by trade. */
export interface Books {
  /** 10^-2 shares. */
  shares: bigint;
  /** 10^-6 USDC. */
  cost: bigint;
  realised: bigint;
}

export interface Fill {
  readonly side: 'BUY' | 'SELL';
  /** 10^-2 shares. */
  readonly quantity: bigint;
  /** 10^-2 USDC. */
  readonly price: bigint;
}

/** By average cost without fees: a sale takes cost × sold ÷ held, rounded half to even to a millionth. */
export function booksOf(fills: Iterable<Fill>): Books {
  const books: Books = { shares: 0n, cost: 0n, realised: 0n };
  for (const { side, quantity, price } of fills) {
    const value = quantity * price * 100n;
    if (side === 'BUY') {
      books.shares += quantity;
      books.cost += value;
      continue;
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

/** A whole number of 10^-`decimals` as decimal text without idle zeros, as ClickHouse writes it. */
export function decimalText(units: bigint, decimals: number): string {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}
