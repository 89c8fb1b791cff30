import { type Command, Option } from 'commander';
import {
  envOf,
  flagOf,
  loadConfig,
  resolveConfig,
  SETTINGS,
  type Setting,
  type SettingName,
  type Settings,
} from '../core/index.js';
import { headingOf } from './settings-by-command.js';

/**
 * Adds the flags of these settings to a command, after its own, with help and defaults from core/settings.ts.
 * @param which what the closing note of the help speaks of
 */
export function withSettings(command: Command, names: readonly SettingName[], which = optionsFrom(names)): Command {
  for (const name of names) {
    for (const option of optionsOf(name)) command.addOption(option.helpGroup(headingOf(name)));
  }
  const example = names.find((name) => name !== name.toLowerCase()) ?? 'exchangeUrl';
  return command.addHelpText(
    'after',
    `\n${which} can also be given as an environment variable or in chancery.config.json:\n` +
      `${flagOf(example)} is ${envOf(example)} and "${example}". Flags win over the environment, it wins over the file.`,
  );
}

const optionsFrom = ([first = 'data']: readonly SettingName[]) => `The options from ${flagOf(first)} on`;

/**
 * The configuration of a parsed command: its flags, the environment, chancery.config.json, defaults.
 * @throws UsageError that names the wrong value and where it was given
 */
export function settingsOf(command: Command): { settings: Settings; given: ReadonlySet<SettingName> } {
  return resolveConfig(flagValues(command));
}

/**
 * The flags that give a child command these settings. What the child finds by itself, in the environment or in
 * chancery.config.json, is left out: no password appears in the process list that was not typed there.
 */
export function flagsFor(settings: Settings, names: readonly SettingName[]): string[] {
  const found = loadConfig();
  return names.flatMap((name) => {
    const value: unknown = settings[name];
    if (value === found[name] || value === undefined) return [];
    if (typeof value === 'boolean') return [value ? flagOf(name) : flagOf(name).replace('--', '--no-')];
    return [flagOf(name), String(value)];
  });
}

function optionsOf(name: SettingName): Option[] {
  const { help, placeholder, default: preset }: Setting<unknown> = SETTINGS[name];
  const flag = flagOf(name);
  if (placeholder === undefined) {
    const on = new Option(flag, help);
    const off = new Option(flag.replace('--', '--no-'), `do not ${help}`);
    return preset === true ? [on.hideHelp(), off] : [on, off.hideHelp()];
  }
  const shown = preset === undefined || preset === '' ? '' : ` (default: ${String(preset)})`;
  return [new Option(`${flag} <${placeholder}>`, `${help}${shown}`)];
}

/** Only what was typed: a switch that commander presets must not hide the environment's value. */
function flagValues(command: Command): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(SETTINGS)) {
    if (command.getOptionValueSource(name) === 'cli') values[name] = command.getOptionValue(name);
  }
  return values;
}
