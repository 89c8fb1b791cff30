import { ownValue } from './own-value.js';
import { ALL, VARIABLE_REFERENCE } from './variable-reference.js';

/** A variable as far as a text shows it. */
export interface ShownVariable {
  readonly name: string;
  readonly value: readonly string[];
  readonly options: readonly { readonly text: string; readonly value: string }[];
}

/** Values of the variables over which a panel is repeated, by name. */
export type Scope = Readonly<Record<string, string>>;

/**
 * A title or text with the values of its variables: `$name`, `${name}`, `[[name]]`, with the format `:text` or `:raw`. Other
 * formats and unknown names stay as they are.
 * @param usual the format of a variable without one: `text` in titles, `raw` in text panels, as in Grafana
 * @param written what is written for a value
 */
export function fillText(
  text: string,
  variables: readonly ShownVariable[],
  scope: Scope,
  usual: 'text' | 'raw',
  written: (value: string) => string = (value) => value,
): string {
  return text.replace(VARIABLE_REFERENCE, (whole, bare, braced, format = usual, bracketed, bracketedFormat = usual) => {
    const variable = variables.find(({ name }) => name === (bare ?? braced ?? bracketed));
    const wanted = bracketed === undefined ? format : bracketedFormat;
    if (!variable || !['text', 'raw'].includes(wanted)) return whole;
    const own = ownValue(scope, variable.name);
    const values = own === undefined ? variable.value : [own];
    return written((wanted === 'text' ? textsOf(values, variable) : rawValues(values, variable)).join(', '));
  });
}

/** Markdown with the values of its variables, encoded where they are part of the address of a link; one may also be its beginning. */
export function fillMarkdown(text: string, variables: readonly ShownVariable[], scope: Scope): string {
  const linked = text.replace(
    /\]\(([^()\n]*)\)/g,
    (_, address: string) =>
      `](${fillText(address, variables, scope, 'raw', /^(\$|\[\[)/.test(address) ? encodeURI : encodeURIComponent)})`,
  );
  return fillText(linked, variables, scope, 'raw');
}

function textsOf(values: readonly string[], { options }: ShownVariable): string[] {
  return values.map((value) => (value === ALL ? 'All' : (options.find((one) => one.value === value)?.text ?? value)));
}

function rawValues(values: readonly string[], { options }: ShownVariable): readonly string[] {
  return values.includes(ALL) ? options.map(({ value }) => value) : values;
}
