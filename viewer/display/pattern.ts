/** What the panel shows instead. */
export class SlowPatternError extends Error {}

/** A pattern of a dashboard's file. The page does nothing else while it matches, so its steps are limited. */
export interface Pattern {
  /** @throws SlowPatternError where it could take too many steps for this text, or where all patterns took too long lately */
  test(text: string): boolean;
  /** @throws SlowPatternError like `test` */
  replace(text: string, by: string): string;
}

/** Maximum number of steps of one match: about 10 ms. */
const MAX_STEPS = 1_000_000;

/** Maximum time for the matches of all patterns of the page. */
const MAX_MS_PER_SECOND = 200;

const known = new Map<string, Pattern>();

/**
 * A pattern of a dashboard's file: between slashes a regular expression, else one of the whole text. One that is no regular
 * expression matches nothing.
 * @throws SlowPatternError for one that could take a time exponential in the length of a text
 */
export function patternOf(text: string): Pattern {
  const before = known.get(text);
  if (before) return before;
  const [, body = `^${text}$`, flags = ''] = /^\/(.*)\/([gimsuy]*)$/s.exec(text) ?? [];
  const expression = compiled(body, flags.replace(/[gy]/g, ''));
  const pattern = expression ? limited(expression, text) : { test: () => false, replace: (of: string) => of };
  known.set(text, pattern);
  return pattern;
}

function compiled(body: string, flags: string): RegExp | undefined {
  try {
    const expression = new RegExp(body, flags);
    // Too large a pattern fails only here.
    expression.test('');
    return expression;
  } catch {
    return undefined;
  }
}

function limited(expression: RegExp, name: string): Pattern {
  const { factor: ways, degree } = waysToMatch(expression.source);
  // Each way compares a part of the pattern.
  const factor = ways * Math.ceil(expression.source.length / 50);
  const refusal = (where: string) =>
    new SlowPatternError(`the viewer does not support the slow pattern ${name.slice(0, 80)}${where}`);
  if (factor > MAX_STEPS) throw refusal('');
  const timed = <T>(text: string, match: () => T): T => {
    if (factor * (text.length + 1) ** degree > MAX_STEPS) throw refusal(` for a text of ${text.length} characters`);
    if (degree <= 1) return match();
    const start = performance.now();
    if (spent(start) > MAX_MS_PER_SECOND) throw refusal(' for this number of texts');
    const result = match();
    slow.ms += performance.now() - start;
    return result;
  };
  return {
    test: (text) => timed(text, () => expression.test(text)),
    replace: (text, by) => timed(text, () => text.replace(expression, by)),
  };
}

/** The matches of the second that began at `since`. */
const slow = { since: 0, ms: 0 };

function spent(now: number): number {
  if (now - slow.since > 1000) {
    slow.since = now;
    slow.ms = 0;
  }
  return slow.ms;
}

/** In how many ways at most something matches a text: `factor` × (characters + 1) ^ `degree`. */
interface Ways {
  readonly factor: number;
  readonly degree: number;
}

const ONE: Ways = { factor: 1, degree: 0 };
const INFINITELY_MANY: Ways = { factor: Number.POSITIVE_INFINITY, degree: 0 };
const isOne = ({ factor, degree }: Ways): boolean => factor === 1 && degree === 0;
const both = (a: Ways, b: Ways): Ways => ({ factor: a.factor * b.factor, degree: a.degree + b.degree });
const either = (a: Ways, b: Ways): Ways => ({ factor: a.factor + b.factor, degree: Math.max(a.degree, b.degree) });

/** What a regular expression consists of: the start of a group, its end, `|`, or one character or group that is repeated. */
const TOKEN = /(\((?:\?(?:<?[=!]|<\w+>|[a-z-]*:))?)|(\))|(\|)|(?:\\.|\[(?:\\.|[^\]\\])*\]|.)/gs;
const REPETITION = /(?:([*+])|(\?)|\{(\d+)(?:(,)(\d*))?\})\??/y;

/** A match that fails tries them all, from each character of the text unless the expression begins with `^`. */
function waysToMatch(source: string): Ways {
  const isAnchored = source.startsWith('^');
  const groups = [{ sum: { ...ONE, factor: 0 }, product: ONE }];
  for (let at = 0; at < source.length; ) {
    TOKEN.lastIndex = at;
    const [token = '', start, end, or] = TOKEN.exec(source) ?? [];
    at += token.length;
    const group = groups.at(-1) as (typeof groups)[number];
    if (start !== undefined) groups.push({ sum: { ...ONE, factor: 0 }, product: ONE });
    else if (or !== undefined) {
      group.sum = either(group.sum, group.product);
      group.product = ONE;
    } else {
      const inside = end === undefined ? ONE : either(group.sum, group.product);
      if (end !== undefined) groups.pop();
      const outer = groups.at(-1) as (typeof groups)[number];
      REPETITION.lastIndex = at;
      const repetition = REPETITION.exec(source);
      at += repetition?.[0].length ?? 0;
      // Nothing follows that could make the last repetition try again.
      const isLast = at === source.length && groups.length === 1 && isOne(inside);
      outer.product = both(outer.product, repetition && !isLast ? repeated(inside, repetition) : inside);
    }
  }
  const whole = groups[0] as (typeof groups)[number];
  const ways = either(whole.sum, whole.product);
  return isAnchored && whole.sum.factor === 0 ? ways : both(ways, { factor: 1, degree: 1 });
}

function repeated(ways: Ways, [, unlimited, optional, least, comma, most]: RegExpExecArray): Ways {
  if (optional !== undefined) return either(ONE, ways);
  if (unlimited !== undefined || (comma !== undefined && most === '')) {
    return isOne(ways) ? { factor: 1, degree: 1 } : INFINITELY_MANY;
  }
  const [from, to] = [Number(least), Number(most ?? least)];
  if (isOne(ways)) return { factor: to - from + 1, degree: 0 };
  return to > 100 ? INFINITELY_MANY : powers(ways, from, to);
}

function powers(ways: Ways, from: number, to: number): Ways {
  let [power, sum]: [Ways, Ways] = [ONE, { factor: 0, degree: 0 }];
  for (let count = 0; count <= to; count += 1) {
    if (count >= from) sum = either(sum, power);
    power = both(power, ways);
  }
  return sum;
}
