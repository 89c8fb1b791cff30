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
import { SUBCOMMANDS } from './subcommands.js';

/** The settings that a command takes. */
function settingsTakenBy(command: string): SettingName[] {
  const needs = SUBCOMMANDS[command]?.needs;
  if (!needs) return [];
  const names = Object.keys(SETTINGS) as SettingName[];
  const takers = [command, ...needs];
  return names.filter((name) => SETTINGS[name].takenBy.some((taker) => takers.includes(taker)));
}

/** Adds the flags of the settings that a command takes, after its own options. */
export function withSettings(command: Command): void {
  const names = settingsTakenBy(command.name());
  const own = names.filter((name) => command.options.some(({ long }) => long === flagOf(name)));
  const added = names.filter((name) => !own.includes(name));
  const [first] = added;
  if (first === undefined) return;
  for (const name of added) {
    for (const option of optionsOf(name, command.name())) command.addOption(option.helpGroup(SETTINGS[name].heading));
  }
  command.addHelpText(
    'after',
    `\nSettings (${[...own.map(flagOf), `every option from ${flagOf(first)}`].join(' and ')} on) can also be given as environment ` +
      `variables or in chancery.config.json:\nfor example, ${flagOf(first)} is ${envOf(first)} or "${first}". ` +
      'Flags take precedence over the environment, and the environment over the file.',
  );
}

/**
 * The configuration of a parsed command: its flags, the environment, chancery.config.json, defaults.
 * @throws UsageError with the wrong value and its source
 */
export function settingsOf(command: Command): { settings: Settings; given: ReadonlySet<SettingName> } {
  return resolveConfig(flagValues(command));
}

/**
 * The flags with which a child command gets its settings. Values that the child reads itself from the environment or from
 * chancery.config.json are omitted, so a password is in the process list only if it was given as a flag.
 */
export function flagsFor(settings: Settings, command: string): string[] {
  const found = loadConfig();
  return settingsTakenBy(command).flatMap((name) => {
    const value: unknown = settings[name];
    if (value === found[name] || value === undefined) return [];
    if (typeof value === 'boolean') return [value ? flagOf(name) : flagOf(name).replace('--', '--no-')];
    return [flagOf(name), String(value)];
  });
}

/** An option with the name of a setting, for a command that takes no settings. */
export function optionNamedLike(name: SettingName, help: string): Option {
  return new Option(`${flagOf(name)} <${SETTINGS[name].placeholder}>`, help);
}

function optionsOf(name: SettingName, command: string): Option[] {
  const { help, placeholder, default: preset, shownDefaults }: Setting<unknown> = SETTINGS[name];
  const flag = flagOf(name);
  if (placeholder === undefined) {
    const on = new Option(flag, help);
    const off = new Option(flag.replace('--', '--no-'), `do not ${help}`);
    return preset === true ? [on.hideHelp(), off] : [on, off.hideHelp()];
  }
  const shown = shownDefaults?.[command] ?? String(preset ?? '');
  return [new Option(`${flag} <${placeholder}>`, shown === '' ? help : `${help} (default: ${shown})`)];
}

/** Only flags that were given: a default set by commander must not hide the environment's value. */
function flagValues(command: Command): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(SETTINGS)) {
    if (command.getOptionValueSource(name) === 'cli') values[name] = command.getOptionValue(name);
  }
  return values;
}
