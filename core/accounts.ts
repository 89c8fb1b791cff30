import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { describeError, UsageError } from './errors.js';
import { Secret } from './secret.js';

/** A recorded account of the exchange, with its credentials. */
export interface AccountCredentials {
  /** Its name in records: lower-case letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** Its ID at the exchange, if configured; else it is taken from its records. */
  readonly userId?: string;
  readonly apiKey?: { readonly key: string; readonly secret: Secret };
  /** A JWT, for endpoints that do not accept an API key. */
  readonly token?: Secret;
  /** Credentials to log in for a JWT. */
  readonly login?: { readonly email: string; readonly password: Secret; readonly otp?: Secret };
}

/** The fields of an account: `apiKey` in the file, `CHANCERY_ACCOUNT_<NAME>_API_KEY` in the environment. */
const FIELDS = ['apiKey', 'apiSecret', 'token', 'email', 'password', 'otp', 'userId'] as const;
type Fields = { readonly [F in (typeof FIELDS)[number]]?: string };

const PREFIX = 'CHANCERY_ACCOUNT_';
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** The activity feed of all users has this name in records. */
const RESERVED = ['activity'];
const suffixOf = (field: string): string => `_${field.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase()}`;

/** Whether an environment variable belongs to an account. @throws UsageError for a name with that prefix and an unknown field */
export function isAccountVariable(variable: string): boolean {
  if (!variable.startsWith(PREFIX)) return false;
  if (fieldOf(variable) !== undefined) return true;
  const known = FIELDS.map((field) => suffixOf(field)).join(', ');
  throw new UsageError(`unknown environment variable ${variable}: after ${PREFIX}NAME, expected one of ${known}`);
}

/**
 * The accounts from environment variables (`CHANCERY_ACCOUNT_<NAME>_API_KEY` etc.) and from a file with one JSON object,
 * `{"name":{"apiKey":…,"apiSecret":…,"email":…,"password":…,"otp":…,"token":…,"userId":…}}`, readable by its owner only.
 * @throws UsageError; its message never contains a value
 */
export function readAccounts(env: NodeJS.ProcessEnv, file: string | undefined): AccountCredentials[] {
  const accounts = new Map<string, AccountCredentials>();
  const found = [...accountsOfEnv(env), ...(file === undefined ? [] : accountsOfFile(file))];
  for (const [name, fields, where] of found) {
    if (accounts.has(name)) throw new UsageError(`account ${name} is defined twice; the second time ${where}`);
    accounts.set(name, accountOf(name, fields, where));
  }
  return [...accounts.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

type Found = readonly [name: string, fields: Fields, where: string];

function fieldOf(variable: string): { name: string; field: (typeof FIELDS)[number] } | undefined {
  const rest = variable.slice(PREFIX.length);
  for (const field of FIELDS) {
    const suffix = suffixOf(field);
    if (rest.length > suffix.length && rest.endsWith(suffix)) {
      return { name: rest.slice(0, -suffix.length).toLowerCase(), field };
    }
  }
  return undefined;
}

function accountsOfEnv(env: NodeJS.ProcessEnv): Found[] {
  const accounts = new Map<string, Record<string, string>>();
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || value === undefined || value === '') continue;
    const location = fieldOf(variable);
    if (!location) continue;
    accounts.set(location.name, { ...accounts.get(location.name), [location.field]: value });
  }
  return [...accounts].map(([name, fields]) => [name, fields, `in ${PREFIX}${name.toUpperCase()}_…`] as const);
}

const text = z.string().min(1);
const fileSchema = z.record(
  z.string(),
  z.strictObject({
    apiKey: text.optional(),
    apiSecret: text.optional(),
    token: text.optional(),
    email: text.optional(),
    password: text.optional(),
    otp: text.optional(),
    userId: text.optional(),
  }),
);

function accountsOfFile(path: string): Found[] {
  let value: unknown;
  try {
    value = JSON.parse(readPrivateFile(path));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // The parser's message would quote the text.
    throw new UsageError(`${path} is not JSON; expected {"name":{"apiKey":…,"apiSecret":…}}`);
  }
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const location = issue?.path.join('.') || 'its content';
    throw new UsageError(`${path}: ${location}: ${issue?.message}; an account's fields are ${FIELDS.join(', ')}`);
  }
  return Object.entries(parsed.data).map(([name, fields]) => [name, defined(fields), `in ${path}`] as const);
}

/** Reads a file of secrets; rejects one that other users can read or own. */
function readPrivateFile(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw new UsageError(`cannot read the file of --accounts-file: ${describeError(error)}`, { cause: error });
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new UsageError(`${path} is not a file; --accounts-file names a file with accounts`);
    const mode = stat.mode & 0o7777;
    const me = process.getuid?.();
    if (me !== undefined && stat.uid !== me) {
      throw new UsageError(
        `${path} holds secrets and belongs to user ${stat.uid}; run: sudo chown ${me} ${shell(path)}`,
      );
    }
    if ((mode & 0o177) !== 0) {
      const shown = mode.toString(8).padStart(4, '0');
      throw new UsageError(`${path} holds secrets and has mode ${shown}; run: chmod 600 ${shell(path)}`);
    }
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function accountOf(name: string, fields: Fields, where: string): AccountCredentials {
  if (!NAME.test(name) || RESERVED.includes(name)) {
    throw new UsageError(
      `${JSON.stringify(name)} ${where} is not a valid account name; use a-z, 0-9, ".", "_" and "-", and not "activity"`,
    );
  }
  const { apiKey, apiSecret, token, email, password, otp, userId } = fields;
  const pair = (a: string, b: string) => new UsageError(`account ${name} ${where} has ${a} without ${b}; give both`);
  if (apiKey !== undefined && apiSecret === undefined) throw pair('an API key', 'its secret');
  if (apiSecret !== undefined && apiKey === undefined) throw pair('an API secret', 'its key');
  if (email !== undefined && password === undefined) throw pair('an email', 'a password');
  if (email === undefined && (password ?? otp) !== undefined) throw pair('a password or code', 'an email');
  if ((apiKey ?? token ?? email) === undefined) {
    throw new UsageError(`account ${name} ${where} has no credentials; give an API key with its secret, or a login`);
  }
  return {
    name,
    ...(userId === undefined ? {} : { userId }),
    ...(apiKey === undefined || apiSecret === undefined
      ? {}
      : { apiKey: { key: apiKey, secret: new Secret(apiSecret) } }),
    ...(token === undefined ? {} : { token: new Secret(token) }),
    ...(email === undefined || password === undefined
      ? {}
      : { login: { email, password: new Secret(password), ...(otp === undefined ? {} : { otp: new Secret(otp) }) } }),
  };
}

const defined = (fields: Readonly<Record<string, string | undefined>>): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** A path quoted for the shell. */
const shell = (path: string): string => (/^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
