import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { FileLock } from '../../core/file-lock.js';
import { packageRoot } from '../../core/index.js';
import { until } from '../support/until.js';

/** The packages and their versions. */
const PACKAGES = join(import.meta.dirname, 'packages');
/** Where they are installed: apart from those of the repository, whose installation they would make twice as large. */
const INSTALLED = join(packageRoot(), '.cache', 'grafana');
const run = promisify(execFile);

interface DisplayValue {
  readonly text: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly color?: string;
  readonly title?: string;
}

export interface GrafanaField {
  readonly name: string;
  readonly type: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly config: Record<string, unknown>;
  readonly values: readonly unknown[];
  readonly display?: (value: unknown) => DisplayValue;
}

export interface GrafanaFrame {
  readonly refId: string;
  readonly fields: readonly GrafanaField[];
  readonly length: number;
}

/** Grafana's variables of a text, with the context of a field. */
export type ReplaceVariables = (text: string, scope?: Readonly<Record<string, { readonly value: unknown }>>) => string;

interface ColorTheme {
  readonly visualization: { readonly getColorByName: (name: string) => string };
}

/** The part of `@grafana/data` that tests use. */
interface GrafanaData {
  readonly applyFieldOverrides: (options: {
    readonly data: readonly unknown[];
    readonly fieldConfig: unknown;
    readonly fieldConfigRegistry: unknown;
    readonly replaceVariables: ReplaceVariables;
    readonly theme: ColorTheme;
    readonly timeZone: string;
  }) => readonly GrafanaFrame[];
  readonly getFieldDisplayValues: (options: {
    readonly data: readonly GrafanaFrame[];
    readonly fieldConfig: unknown;
    readonly reduceOptions: { readonly calcs: readonly string[]; readonly values?: boolean; readonly fields?: string };
    readonly replaceVariables: ReplaceVariables;
    readonly theme: ColorTheme;
    readonly timeZone: string;
  }) => readonly { readonly display: DisplayValue }[];
  readonly createDataFrame: (frame: unknown) => GrafanaFrame;
  readonly createTheme: (options: { readonly colors: { readonly mode: 'dark' | 'light' } }) => ColorTheme;
  readonly colorManipulator: { readonly asHexString: (color: string) => string };
  readonly FieldConfigOptionsRegistry: new (init: () => readonly unknown[]) => unknown;
  readonly fieldReducers: { readonly getIfExists: (id: string) => { readonly name: string } | undefined };
  readonly reduceField: (options: {
    readonly field: unknown;
    readonly reducers: readonly string[];
  }) => Readonly<Record<string, unknown>>;
  readonly displayNameOverrideProcessor: unknown;
  readonly thresholdsOverrideProcessor: unknown;
  readonly identityOverrideProcessor: unknown;
  readonly numberOverrideProcessor: unknown;
}

/** There is no registry, or it does not have the packages. */
export class CannotInstall extends Error {}

/**
 * `@grafana/data`, installed the first time that a test needs it.
 * @throws CannotInstall
 */
export async function loadGrafanaData(): Promise<GrafanaData> {
  mkdirSync(dirname(INSTALLED), { recursive: true });
  const lock = new FileLock(`${INSTALLED}.lock`);
  try {
    await until(async () => lock.try('exclusive'));
    if (!isInstalled()) await install();
  } finally {
    lock.close();
  }
  // It asks a browser for its language as soon as a value is formatted.
  Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en-US'] }, configurable: true });
  // Node cannot import it: its modules name files without their endings.
  return createRequire(join(INSTALLED, 'package.json'))('@grafana/data');
}

/** Copied after everything is installed. */
const LAST = 'installed.json';

function isInstalled(): boolean {
  const done = join(INSTALLED, LAST);
  return existsSync(done) && readFileSync(done).equals(readFileSync(join(PACKAGES, 'package-lock.json')));
}

async function install(): Promise<void> {
  rmSync(INSTALLED, { recursive: true, force: true });
  cpSync(PACKAGES, INSTALLED, { recursive: true });
  try {
    await run('npm', ['ci', '--ignore-scripts', '--prefer-offline'], { cwd: INSTALLED });
  } catch (cause) {
    throw new CannotInstall('npm cannot install @grafana/data here', { cause });
  }
  cpSync(join(PACKAGES, 'package-lock.json'), join(INSTALLED, LAST));
}
