import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../cli/program.js';
import { SUBCOMMANDS } from '../../cli/subcommands.js';
import {
  collectSettings,
  hostNames,
  loadConfig,
  packageRoot,
  SETTINGS,
  type Setting,
  type SettingName,
  transformSettings,
} from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { chancery, commandLine } from './command.js';

const settingNames = Object.keys(SETTINGS) as SettingName[];

/** The code of the files and of all that they import, without the definitions of the settings. */
function codeOf(files: readonly string[]): string {
  const seen = new Map<string, string>([['core/settings.ts', '']]);
  const add = (file: string) => {
    if (seen.has(file)) return;
    const code = readFileSync(file, 'utf8');
    seen.set(file, code);
    for (const [, path = ''] of code.matchAll(/ from '(\.[^']+)\.js'/g)) add(`${join(dirname(file), path)}.ts`);
  };
  files.forEach(add);
  return [...seen.values()].join('\n');
}

/** Whether the code reads the setting: `settings.name`, `const { name } = settings`, or a group of settings that has it. */
function reads(code: string, name: SettingName): boolean {
  const settings = loadConfig({}, {});
  const groups = Object.entries({
    collectSettings: Object.keys(collectSettings(settings)),
    transformSettings: Object.keys(transformSettings(settings)),
    exchangeAddresses: ['exchangeUrl', ...hostNames.map((host) => `${host}Url`)],
  });
  const single = String.raw`[sS]ettings\.${name}\b|\{[^{}]*\b${name}\b[^{}]*\}(?::| =)[^;{}]*[sS]ettings`;
  return (
    new RegExp(single).test(code) ||
    groups.some(
      ([group, names]) => names.includes(name) && new RegExp(String.raw`(?<!function )\b${group}\(`).test(code),
    )
  );
}

describe('help', () => {
  it('lists every subcommand with a description', async () => {
    const { code, out } = await commandLine(['--help']);
    expect(code).toBe(0);
    for (const command of (await createProgram([])).commands) {
      expect(command.description()).not.toBe('');
      expect(out).toContain(`\n  ${command.name()} `);
    }
  });

  it.each(Object.keys(SUBCOMMANDS))('of %s shows its options and examples', async (name) => {
    const { code, out, err } = await commandLine([name, '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`Usage: chancery ${name}`);
    // `init` writes files for a deployment, `certify` runs an instance of its own, `dataset` reads files.
    expect(out.includes('--data <DIR>')).toBe(!['init', 'certify', 'dataset'].includes(name));
    expect(out).toMatch(new RegExp(`\nExamples:\n  chancery ${name}`));
  });

  it.each(Object.entries(SUBCOMMANDS))('of %s lists no setting that its code does not read', (name, { needs }) => {
    const services = name === 'up' ? ['warehouse', 'transform', 'collect', 'view'] : [];
    const code = codeOf([name, ...services].map((command) => `cli/commands/${command}.ts`));
    const listed = settingNames.filter((key) => {
      const { takenBy }: Setting<unknown> = SETTINGS[key];
      return takenBy.includes(name) || takenBy.some((need) => needs?.some((each) => each === need));
    });
    expect(listed.filter((key) => !reads(code, key))).toEqual([]);
  });

  it('names the default of the command, where it differs from that of the setting', async () => {
    const help = async (name: string) => (await commandLine([name, '--help'])).out.replaceAll(/\s+/g, ' ');
    const text = 'base URL of the exchange (default: ';
    expect(await help('collect')).toContain(`${text}http://127.0.0.1:9100)`);
    expect(await help('up')).toContain(`${text}a simulated exchange, which it starts)`);
    expect(await help('doctor')).toContain(`${text}the exchange that runs on the data folder, if any)`);
  });

  it('is shown without a subcommand, with exit code 2', async () => {
    const { code, out, err } = await chancery([]);
    expect(code).toBe(2);
    expect(out + err).toContain('Usage: chancery');
  });
});

it('that npm has linked before it is built says so', async () => {
  const folder = join(temporaryFolder(), 'cli');
  mkdirSync(folder);
  copyFileSync(join(packageRoot(), 'cli/chancery.mjs'), join(folder, 'chancery.mjs'));
  await expect(
    promisify(execFile)(process.execPath, [join(folder, 'chancery.mjs'), '--version']),
  ).rejects.toMatchObject({
    code: 1,
    stderr: 'chancery: it is not built yet: wait for `npm start`, or run `npm run build`\n',
  });
});

describe('a wrong command line', () => {
  it.each([
    [['doctr'], "unknown command 'doctr' (did you mean doctor?)"],
    [['doctor', '--dta', 'x'], "unknown option '--dta' (did you mean --data?)"],
    [['doctor', 'now'], `too many arguments for 'doctor': it takes no arguments, "now" is one too many`],
    [
      ['transform', '--fsync', 'false'],
      `too many arguments for 'transform': --fsync is a switch, write --fsync or --no-fsync without "false"`,
    ],
    [['doctor', '--json', 'true'], `--json is a switch, write --json alone without "true"`],
    [['sql', '--console', 'SELECT 1', 'now'], `it takes one argument, "now" is one too many`],
    [['doctor', '--data'], "option '--data <DIR>' needs a value"],
    [['dataset'], 'argument ACTION is missing'],
    [['dataset', 'check', 'a'], 'ACTION is "check": it must be one of verify, rebuild, diff; try --help'],
    [['export'], "option '--out <DIR>' is required"],
    [
      ['export', '--finished-after-hours', 'x'],
      '--finished-after-hours is "x": it must be a number of hours, like 24; try --help',
    ],
    [
      ['warehouse', '--log-level', 'loud'],
      '--log-level is "loud": it must be one of trace, debug, info, warn, error, fatal.',
    ],
    [
      ['transform', '--batch-rows', '0'],
      '--batch-rows is "0": it must be at least 1. This setting is: maximum number of',
    ],
    [['transform', '--batch-rows', '1.5'], '--batch-rows is "1.5": it must be a whole number.'],
    [['transform', '--batch-rows', '2000000'], '--batch-rows is "2000000": it must be at most 1000000.'],
    [['transform', '--batch-delay-ms', 'x'], '--batch-delay-ms is "x": it must be a number.'],
    [['transform', '--username-key', 'x'], '--username-key is [redacted]: it must have at least 16 characters.'],
    [['transform', '--group', ''], '--group is "": it must not be empty.'],
    [['collect', '--audit-ms', '0'], '--audit-ms is "0": it must be at least 1.'],
    [['collect', '--history-days', '0'], '--history-days is "0": it must be more than 0.'],
    [['collect', '--exchange-url', 'x'], '--exchange-url is "x": it must be a URL, like http://127.0.0.1:9100.'],
    [['up', '--exchange-url', 'http://exchange.example'], '"http://exchange.example" is not encrypted; use https:'],
    [['up', '--history-period', '7q'], '--history-period is "7q"; give 1s, '],
    [['up', '--events-schedule', '7'], '--events-schedule is "7", which is not a cron pattern'],
    [['up', '--accounts-file', '/nowhere'], 'cannot read the file of --accounts-file: ENOENT'],
    [['up', '--data', '/proc/chancery'], '/proc cannot contain folders'],
    [['init', '--file', '/nowhere/.env'], 'the folder /nowhere does not exist'],
  ])('%j gets one line and exit code 2', async (args, message) => {
    const { code, out, err } = await commandLine(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^chancery: [^\n]+\n$/);
    expect(err).toContain(message);
  });
});

describe('configuration', () => {
  it('has no setting that no subcommand takes', async () => {
    const taken = new Set<string>();
    for (const name of Object.keys(SUBCOMMANDS)) {
      const command = (await createProgram([name])).commands.find((c) => c.name() === name);
      for (const option of command?.options ?? []) taken.add(option.attributeName());
    }
    expect(Object.keys(SETTINGS).filter((name) => !taken.has(name))).toEqual([]);
  });

  it('has no setting whose `takenBy` is neither a subcommand nor a need of one', () => {
    const takers = Object.entries(SUBCOMMANDS).flatMap(([name, { needs = [] }]) => [name, ...needs]);
    const named = Object.values<Setting<unknown>>(SETTINGS).flatMap(({ takenBy }) => takenBy);
    expect(named.filter((taker) => !takers.includes(taker))).toEqual([]);
  });

  it('takes flags over the environment, the environment over the file, the file over defaults', async () => {
    const folder = temporaryFolder();
    const inUse = async (args: string[], env: Record<string, string>) => {
      const { err } = await commandLine(['status', ...args], { cwd: folder, env });
      return /^chancery: data folder (\S+) does not exist/.exec(err)?.[1];
    };
    expect(await inUse([], {})).toBe(join(folder, 'data'));
    writeFileSync(join(folder, 'chancery.config.json'), '{"data":"from-file"}');
    expect(await inUse([], {})).toBe(join(folder, 'from-file'));
    expect(await inUse([], { CHANCERY_DATA: 'from-env' })).toBe(join(folder, 'from-env'));
    expect(await inUse(['--data', 'from-flag'], { CHANCERY_DATA: 'from-env' })).toBe(join(folder, 'from-flag'));
  });

  it.each([
    ['{"dta":"x"}', {}, /unknown key dta in .*chancery\.config\.json \(did you mean data\?\)/],
    ['{"logLevel":7}', {}, /logLevel in chancery\.config\.json is 7: it must be one of trace, /],
    ['{"database":5}', {}, /database in chancery\.config\.json is 5: it must be a text\./],
    ['{"data":', {}, /chancery\.config\.json is not JSON/],
    ['[]', {}, /must hold one JSON object/],
    ['{}', { CHANCERY_DAT: 'x' }, /unknown environment variable CHANCERY_DAT \(did you mean CHANCERY_DATA\?\)/],
    ['{}', { CHANCERY_EVNTS: '1' }, /unknown environment variable CHANCERY_EVNTS\n/],
    ['{}', { CHANCERY_LOG_LEVEL: 'loud' }, /CHANCERY_LOG_LEVEL is "loud"/],
  ])('%s with %j is refused in one line with exit code 2', async (file, env, message) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'chancery.config.json'), file);
    const { code, err } = await commandLine(['doctor'], { cwd: folder, env });
    expect(code).toBe(2);
    expect(err).toMatch(/^chancery: [^\n]+\n$/);
    expect(err).toMatch(message);
  });
});
