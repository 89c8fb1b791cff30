/**
 * Version of the transforms: raise it whenever the same records would become other rows (or rows in another order). A
 * batch that another version began cannot be finished by this one.
 */
export const TRANSFORM_VERSION = '6';
