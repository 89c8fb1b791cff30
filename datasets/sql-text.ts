import { quoteText } from '../warehouse/index.js';

export { quoteName as quoted, quoteText as text } from '../warehouse/index.js';

/** Texts as the right side of `IN`. */
export const list = (values: readonly string[]): string => `(${values.map(quoteText).join(', ')})`;

/** Texts as an SQL array. */
export const array = (values: readonly string[]): string => `[${values.map(quoteText).join(', ')}]`;
