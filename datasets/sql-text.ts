/** A text as an SQL literal. */
export const text = (value: string): string => `'${value.replace(/['\\]/g, '\\$&')}'`;

/** Texts as the right side of `IN`. */
export const list = (values: readonly string[]): string => `(${values.map(text).join(', ')})`;

/** The name of a column in SQL. */
export const quoted = (name: string): string => `\`${name}\``;

/** Texts as an SQL array. */
export const array = (values: readonly string[]): string => `[${values.map(text).join(', ')}]`;
