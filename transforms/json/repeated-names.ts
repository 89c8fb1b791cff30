import type { ValidationIssue } from '../../client/index.js';
import { countJsonNames, countNames } from '../../core/index.js';
import { MAX_WALKED, walkJson } from './walk-json.js';

const SHOWN = 40;

/**
 * The fault of the first object of a body with a repeated name: parsing keeps only the last value, so no value of the body
 * can be relied on.
 * @param names number of names in the body's text, if known
 * @param body the parsed text
 */
export function repeatedName(
  bodyText: () => string,
  names: number | undefined,
  body: unknown,
): ValidationIssue | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  if ((names ?? countJsonNames(Buffer.from(bodyText()))) === countNames(body)) return undefined;
  const text = bodyText();
  let fault: ValidationIssue = { path: '', reason: 'an object gives a name more than once' };
  if (text.length > MAX_WALKED) return fault;
  walkJson(text, body, ({ repeated, path }) => {
    if (repeated === undefined) return true;
    fault = { path: path() ?? '', reason: `gives the name ${JSON.stringify(repeated.slice(0, SHOWN))} more than once` };
    return false;
  });
  return fault;
}
