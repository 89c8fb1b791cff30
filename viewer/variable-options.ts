import vm from 'node:vm';
import { UsageError } from '../core/index.js';

/** A value of a variable, and the text that is shown for it. */
export interface Option {
  readonly text: string;
  readonly value: string;
}

/** What a pattern may take for all options of a variable, milliseconds: nothing else runs meanwhile. */
const MAX_PATTERN_MS = 100;
/** How long a pattern that took longer is not tried again, milliseconds. */
const REFUSED_MS = 60_000;

/** A match as it leaves the context in which the pattern ran. */
interface Match {
  readonly groups: readonly (string | null)[];
  readonly value: string | null;
  readonly text: string | null;
}

/** Runs in a context of its own, so that it can be ended while it matches. */
const FIND = `JSON.stringify(JSON.parse(subjects).map((subject) => {
  const expression = new RegExp(body, flags);
  const found = [];
  for (let match = expression.exec(subject); match; match = expression.exec(subject)) {
    const { value = null, text = null } = match.groups ?? {};
    found.push({ groups: [...match].map((group) => group ?? null), value, text });
    if (!expression.global || match[0] === '') break;
  }
  return found;
}))`;

/** Applies the patterns of dashboards of any origin to the options of their variables, each for a limited time. */
export class VariablePatterns {
  readonly #refusedUntil = new Map<string, number>();

  /** @param maxMs time for the matches of one pattern, milliseconds */
  constructor(
    private readonly nowMs: () => number,
    private readonly maxMs = MAX_PATTERN_MS,
  ) {}

  /**
   * The options that match, as Grafana makes them: with the named groups `value` and `text`, else with the first group.
   * @throws UsageError for a pattern that is none, or that takes too long
   */
  apply(pattern: string, options: readonly Option[], appliesTo: 'value' | 'text'): readonly Option[] {
    const matches = this.#find(
      pattern,
      options.map((option) => option[appliesTo]),
    );
    return uniqueByValue(options.flatMap((option, i) => optionsOf(option, matches[i] ?? [])));
  }

  #find(pattern: string, subjects: readonly string[]): readonly (readonly Match[])[] {
    const { nowMs, maxMs } = this;
    if ((this.#refusedUntil.get(pattern) ?? 0) > nowMs()) tooSlow(pattern, maxMs);
    const [, body = `^${pattern}$`, flags = ''] = /^\/(.*?)\/([gimsuy]*)$/s.exec(pattern) ?? [];
    try {
      const context = { subjects: JSON.stringify(subjects), body, flags };
      const found: unknown = vm.runInNewContext(FIND, context, { timeout: maxMs });
      return JSON.parse(String(found)) as Match[][];
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT')
        throw new UsageError(`the regex ${shortened(pattern)} is not a regular expression`, { cause: error });
      this.#refusedUntil.set(pattern, nowMs() + REFUSED_MS);
      return tooSlow(pattern, maxMs);
    }
  }
}

const shortened = (pattern: string): string => JSON.stringify(pattern.slice(0, 80));

function tooSlow(pattern: string, maxMs: number): never {
  throw new UsageError(`the regex ${shortened(pattern)} takes longer than ${maxMs} ms`);
}

function optionsOf(option: Option, matches: readonly Match[]): Option[] {
  const [first] = matches;
  if (!first) return [];
  const value = matches.find((match) => match.value)?.value;
  const text = matches.find((match) => match.text)?.text;
  if (value || text) return [{ value: value ?? text ?? '', text: text ?? value ?? '' }];
  if (first.groups.length < 2) return [option];
  const groups = matches.length > 1 ? matches.map(({ groups }) => groups[1]) : [first.groups[1]];
  return groups.map((group) => ({ value: group ?? '', text: group ?? '' }));
}

/** The first of each value. */
export function uniqueByValue(options: readonly Option[]): readonly Option[] {
  return [...new Map(options.toReversed().map((option) => [option.value, option])).values()].toReversed();
}

const SORTS: readonly ((a: Option, b: Option) => number)[] = [
  (a, b) => compared(a.text, b.text),
  (a, b) => numberIn(a.text) - numberIn(b.text),
  (a, b) => compared(a.text.toLowerCase(), b.text.toLowerCase()),
  (a, b) => a.text.localeCompare(b.text, 'en-US', { numeric: true }),
];

/** In the order of Grafana's number: 1 and 2 by text, 3 and 4 by number, 5 and 6 without case, 7 and 8 naturally; even ones descend. */
export function sortedOptions(options: readonly Option[], order: number): readonly Option[] {
  const compare = SORTS[Math.ceil(order / 2) - 1];
  if (!compare) return options;
  const sorted = [...options].sort(compare);
  return order % 2 === 0 ? sorted.reverse() : sorted;
}

const compared = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
const numberIn = (text: string): number => Number(/\d+/.exec(text)?.[0] ?? -1);
