import { type Category, decodeCategories } from '../decode/reference.js';
import type { Operation } from './operation.js';

/** `GET /api/categories`, part 4.5: the category tree, as a list in depth-first order. */
export const categoriesOperation: Operation<void, Category> = {
  name: 'categories',
  method: 'GET',
  buildRequest: () => ({ path: '/api/categories' }),
  decode: decodeCategories,
};
