/**
 * The best price of a side of the book; null for a bid of 0 or an ask of 1, which mean that the side is empty (orders are
 * priced 0.01 to 0.99, part 8).
 */
export function bestPrice(price: number): number | null {
  return price === 0 || price === 1 ? null : price;
}
