import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { type AccountCredentials, isAccountVariable, readAccounts } from './accounts.js';
import { describeError, UsageError } from './errors.js';
import { SETTINGS, type SettingName, type Settings } from './settings.js';

export const CONFIG_FILE = 'chancery.config.json';
const NAMES = Object.keys(SETTINGS) as SettingName[];

/** `exchangeUrl` → `--exchange-url`. */
export const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;
/** `exchangeUrl` → `CHANCERY_EXCHANGE_URL`. */
export const envOf = (name: string): string => `CHANCERY_${name.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase()}`;

/**
 * ` (did you mean X?)`, or an empty text when no known name is similar.
 * @param prefix begins every name, and is not compared
 */
export function nearest(name: string, known: readonly string[], prefix = ''): string {
  const rest = name.slice(prefix.length);
  const rests = known.map((each) => each.slice(prefix.length));
  const near = rests.length > 0 ? closest(rest, rests) : undefined;
  return near !== undefined && distance(rest, near) <= Math.max(2, Math.floor(rest.length / 3))
    ? ` (did you mean ${prefix}${near}?)`
    : '';
}

/**
 * Reads the configuration. Precedence: flags, environment variables, file, defaults.
 * @param flags values from the command line, by setting name
 * @throws UsageError for an unknown key (with the nearest known one) or an invalid value, with its source
 */
export function loadConfig(
  flags: Readonly<Record<string, unknown>> = {},
  env: NodeJS.ProcessEnv = process.env,
  folder: string = process.cwd(),
): Settings {
  return resolveConfig(flags, env, folder).settings;
}

/** As `loadConfig`, and the set of settings that were given, not defaulted. */
export function resolveConfig(
  flags: Readonly<Record<string, unknown>> = {},
  env: NodeJS.ProcessEnv = process.env,
  folder: string = process.cwd(),
): { settings: Settings; given: ReadonlySet<SettingName> } {
  const file = readConfigFile(join(folder, CONFIG_FILE));
  const aliases = new Set(Object.values(SETTINGS).flatMap((s) => ('env' in s ? s.env : [])));
  for (const key of Object.keys(env)) {
    if (!key.startsWith('CHANCERY_') || NAMES.some((n) => envOf(n) === key) || aliases.has(key as never)) continue;
    if (!isAccountVariable(key)) {
      throw new UsageError(`unknown environment variable ${key}${nearest(key, NAMES.map(envOf), 'CHANCERY_')}`);
    }
  }
  const settings: Record<string, unknown> = {};
  const given = new Set<SettingName>();
  for (const name of NAMES) {
    const picked = pick(name, flags, env, file);
    settings[name] = picked === undefined ? SETTINGS[name].default : picked.value;
    if (picked !== undefined) given.add(name);
  }
  return { settings: settings as Settings, given };
}

/**
 * The accounts to record, from the environment and the configured file.
 * @throws UsageError, also for a file that other users can read
 */
export function loadAccounts(
  settings: Pick<Settings, 'accountsFile'>,
  env: NodeJS.ProcessEnv = process.env,
): AccountCredentials[] {
  return readAccounts(env, settings.accountsFile);
}

function pick(
  name: SettingName,
  flags: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
  file: Record<string, unknown>,
): { value: unknown } | undefined {
  const definition = SETTINGS[name];
  const envNames = [envOf(name), ...('env' in definition ? definition.env : [])];
  const fromEnv = envNames.find((e) => env[e] !== undefined && env[e] !== '');
  const [value, source] =
    flags[name] !== undefined
      ? [flags[name], flagOf(name)]
      : fromEnv !== undefined
        ? [env[fromEnv], fromEnv]
        : file[name] !== undefined
          ? [file[name], `${name} in ${CONFIG_FILE}`]
          : [undefined, ''];
  if (value === undefined) return undefined;
  const parsed = (definition.schema as z.ZodType).safeParse(value, { error: requirementOf });
  if (parsed.success) return { value: parsed.data };
  const reason = parsed.error.issues.map((i) => i.message).join('; ');
  const shown = /password|secret|usernameKey/i.test(name) ? '[redacted]' : JSON.stringify(value);
  throw new UsageError(`${source} is ${shown}: ${reason}. This setting is: ${definition.help}`);
}

/** The text of the requirement that a value does not meet; undefined where the schema has its own text, and for other requirements. */
function requirementOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'too_small':
      if (issue.origin === 'string') {
        return issue.minimum === 1 ? 'it must not be empty' : `it must have at least ${issue.minimum} characters`;
      }
      return `it must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      return `it must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`;
    case 'invalid_value':
      return `it must be one of ${issue.values.join(', ')}`;
    case 'invalid_type':
      return `it must be a ${issue.expected === 'int' ? 'whole number' : issue.expected === 'string' ? 'text' : issue.expected}`;
    case 'invalid_format':
      return issue.format === 'url' ? 'it must be a URL, like http://127.0.0.1:9100' : undefined;
    default:
      return undefined;
  }
}

function readConfigFile(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new UsageError(`cannot read ${path}: ${describeError(error)}`, { cause: error });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${describeError(error)}`, { cause: error });
  }
  const object = z.record(z.string(), z.unknown()).safeParse(value);
  if (!object.success) throw new UsageError(`${path} must hold one JSON object`);
  for (const key of Object.keys(object.data)) {
    if (!NAMES.includes(key as SettingName))
      throw new UsageError(`unknown key ${key} in ${path}${nearest(key, NAMES)}`);
  }
  return object.data;
}
