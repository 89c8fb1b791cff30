/** What the panel shows instead. */
export class SlowPatternError extends Error {}

const known = new Map<string, RegExp>();

/**
 * A pattern of a dashboard's file: between slashes a regular expression, else one of the whole text. One that is no regular
 * expression matches nothing.
 * @throws SlowPatternError for one that could take a time exponential in the length of a text: the page does nothing else meanwhile
 */
export function patternOf(text: string): RegExp {
  const before = known.get(text);
  if (before) return before;
  const [, body = `^${text}$`, flags = ''] = /^\/(.*)\/([gimsuy]*)$/s.exec(text) ?? [];
  if (repeatsChoices(body))
    throw new SlowPatternError(`the viewer does not support the slow pattern ${text.slice(0, 80)}`);
  const pattern = compiled(body, flags.replace(/[gy]/g, ''));
  known.set(text, pattern);
  return pattern;
}

function compiled(body: string, flags: string): RegExp {
  try {
    return new RegExp(body, flags);
  } catch {
    return /^\b$/;
  }
}

/** From this number of repetitions on, one counts as without a limit. */
const MANY = 20;

/** What a pattern consists of: escapes and classes of characters, brackets, alternatives, and repetitions. */
const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[^>]*>?))?|\)|\||\*|\+|\{(\d*)(,?)(\d*)\}/gs;

/**
 * Whether a group that is repeated without a limit has alternatives, or repeats something without a limit: the number
 * of ways to divide a text is then exponential.
 */
function repeatsChoices(body: string): boolean {
  const groups = [false];
  let closed = { end: -1, hasChoices: false };
  for (const { 0: token, 1: least, 2: comma, 3: most, index } of body.matchAll(TOKEN)) {
    const isBounded = least !== undefined && Number(most || (comma ? MANY : least)) < MANY;
    if (token.startsWith('(')) groups.push(false);
    else if (token === ')') {
      closed = { end: index + 1, hasChoices: groups.pop() ?? false };
      if (closed.hasChoices) groups[groups.length - 1] = true;
    } else if (token === '|' || token === '*' || token === '+' || (token.startsWith('{') && !isBounded)) {
      if (token !== '|' && closed.end === index && closed.hasChoices) return true;
      groups[groups.length - 1] = true;
    }
  }
  return false;
}
