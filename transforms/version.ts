/**
 * Version of the transforms: increase it whenever the same records would become other rows, or rows in another order. A
 * batch begun by another version cannot be completed by this one.
 */
export const TRANSFORM_VERSION = '13';
