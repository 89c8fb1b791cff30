import { closeSync, existsSync, openSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { DataType, load, open } from 'ffi-rs';
import { packageRoot } from '../../core/index.js';
import type { EmbeddedPaths } from './paths.js';

/**
 * Restricts the ClickHouse process to its own files with Linux Landlock. The library lets every user who can send a query
 * read any file with `SELECT file('…')`, and no grant or setting of ClickHouse prevents that: the reader could read the
 * owner's password.
 */
const SYSCALL = { createRuleset: 444, addRule: 445, restrictSelf: 446 } as const;
const PR_SET_NO_NEW_PRIVS = 38;
const RULE_PATH_BENEATH = 1;
const VERSION_FLAG = 1;
const O_PATH = 0o10000000;
const F_SETFD = 2;

const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const TRUNCATE = 1n << 14n;
/** Rights of Landlock version 2, the first that allows renames between folders. */
const BASIC = (1n << 14n) - 1n;
const FIRST_USABLE_VERSION = 2;

const LIBRARY_FOLDERS = [
  '/lib',
  '/lib32',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/usr/local/lib',
  '/nix/store',
  '/gnu/store',
];
const READ_FOLDERS = ['/sys', '/usr/share/zoneinfo', '/etc/ssl', '/etc/pki', '/usr/share/ca-certificates'];
/** Not all of `/proc`: command lines of other processes may hold passwords. */
const PROC_FOLDERS = ['/proc/self', '/proc/sys', '/proc/pressure'];
const PROC_FILES = [
  'cgroups',
  'cpuinfo',
  'diskstats',
  'filesystems',
  'loadavg',
  'meminfo',
  'stat',
  'uptime',
  'version',
  'vmstat',
].map((name) => `/proc/${name}`);
const READ_FILES = [
  '/etc/localtime',
  '/etc/hosts',
  '/etc/host.conf',
  '/etc/resolv.conf',
  '/etc/nsswitch.conf',
  '/etc/gai.conf',
  '/etc/ld.so.cache',
  '/dev/urandom',
  '/dev/random',
  '/dev/zero',
];

/** Why this system cannot restrict a process to its files; undefined when it can. */
export function noLandlockReason(): string | undefined {
  if (process.platform !== 'linux') return `Landlock does not exist on ${process.platform}`;
  return landlockVersion() < FIRST_USABLE_VERSION
    ? 'the kernel does not support Landlock version 2 or newer'
    : undefined;
}

/**
 * Restricts this thread, its children and what it executes to the files that a ClickHouse server of this folder needs.
 * Throws when that is not possible.
 */
export function confine(paths: EmbeddedPaths): void {
  const missing = noLandlockReason();
  if (missing !== undefined) throw notConfined(missing);
  const all = landlockVersion() >= 3 ? BASIC | TRUNCATE : BASIC;
  const handled = Buffer.alloc(8);
  handled.writeBigUInt64LE(all);
  const ruleset = createRuleset(handled);
  if (ruleset < 0) throw notConfined('the kernel refused a Landlock ruleset');
  const allow = (path: string, access: bigint) => closeSync(addRule(ruleset, path, access & all));
  // The kernel may create the inode of an unused entry of /proc again, and the rule is for the inode: it stays in use.
  const allowProc = (path: string, access: bigint) => setDescriptorFlags(addRule(ruleset, path, access & all), 0);

  allow(paths.store, all);
  const programs = [...LIBRARY_FOLDERS, ...packageFolders()];
  for (const folder of programs.filter(existsSync)) allow(folder, READ_FILE | READ_DIR | EXECUTE);
  const readable = readdirSync(paths.readable).map((name) => join(paths.readable, name));
  for (const folder of [...READ_FOLDERS, ...readable].filter(existsSync)) allow(folder, READ_FILE | READ_DIR);
  for (const folder of PROC_FOLDERS.filter(existsSync)) allowProc(folder, READ_FILE | READ_DIR);
  for (const file of PROC_FILES.filter(existsSync)) allowProc(file, READ_FILE);
  const files = [...READ_FILES, ...packageFiles(), paths.config, paths.users];
  for (const file of files.filter(existsSync)) allow(file, READ_FILE);
  allow('/dev/null', READ_FILE | WRITE_FILE | TRUNCATE);
  allow(process.execPath, READ_FILE | EXECUTE);

  if (prctl(PR_SET_NO_NEW_PRIVS, 1) !== 0) throw notConfined('the kernel refused no_new_privs');
  if (restrictSelf(ruleset) !== 0) throw notConfined('the kernel refused to apply the Landlock ruleset');
}

const notConfined = (reason: string): Error =>
  new Error(
    `cannot restrict ClickHouse to its files: ${reason}; with --clickhouse-unconfined it starts without, ` +
      'and every ClickHouse user can read the files of this user',
  );

/** Executes `node script …args` in this process: after exec no unrestricted thread of Node.js is left. */
export function execNode(script: string, args: readonly string[]): never {
  // Node.js opens stdin, stdout and stderr with FD_CLOEXEC.
  for (const fd of [0, 1, 2]) setDescriptorFlags(fd, 0);
  const argv = [process.execPath, script, ...args];
  load({
    library: LIBRARY,
    funcName: 'execl',
    retType: DataType.I32,
    paramsType: [DataType.String, ...argv.map(() => DataType.String), DataType.I64],
    paramsValue: [process.execPath, ...argv, 0],
  });
  throw new Error(`cannot execute ${process.execPath}`);
}

/** Folders that Node.js reads to run the child: the compiled files, and the `node_modules` of its dependencies. */
function packageFolders(): string[] {
  const { resolve } = createRequire(import.meta.url);
  const modules = ['ffi-rs', 'chdb/libchdb'].map((name) => {
    const path = realpathSync(resolve(name));
    const folder = `${sep}node_modules${sep}`;
    return path.slice(0, path.indexOf(folder) + folder.length);
  });
  return [join(packageRoot(), 'dist'), ...new Set(modules)];
}

const packageFiles = (): string[] => [join(packageRoot(), 'package.json')];

/** Allows access to a file, or to everything in a folder; returns the descriptor of the path. */
function addRule(ruleset: number, path: string, access: bigint): number {
  const descriptor = openSync(path, O_PATH);
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(access);
  rule.writeInt32LE(descriptor, 8);
  if (addPathRule(ruleset, rule) !== 0) throw notConfined(`the kernel refused a Landlock rule for ${path}`);
  return descriptor;
}

const LIBRARY = 'chancery-landlock';
const SYSCALL_RESULT = { library: LIBRARY, funcName: 'syscall', retType: DataType.I32 } as const;
const { I32, I64, U8Array } = DataType;

/** Version of Landlock that the kernel supports; negative without Landlock. */
function landlockVersion(): number {
  open({ library: LIBRARY, path: '' });
  return load({
    ...SYSCALL_RESULT,
    paramsType: [I64, I64, I64, I64],
    paramsValue: [SYSCALL.createRuleset, 0, 0, VERSION_FLAG],
  });
}

const createRuleset = (attributes: Buffer): number =>
  load({
    ...SYSCALL_RESULT,
    paramsType: [I64, U8Array, I64, I64],
    paramsValue: [SYSCALL.createRuleset, attributes, attributes.length, 0],
  });

const addPathRule = (ruleset: number, rule: Buffer): number =>
  load({
    ...SYSCALL_RESULT,
    paramsType: [I64, I64, I64, U8Array, I64],
    paramsValue: [SYSCALL.addRule, ruleset, RULE_PATH_BENEATH, rule, 0],
  });

const restrictSelf = (ruleset: number): number =>
  load({ ...SYSCALL_RESULT, paramsType: [I64, I64, I64], paramsValue: [SYSCALL.restrictSelf, ruleset, 0] });

const prctl = (option: number, value: number): number =>
  load({
    library: LIBRARY,
    funcName: 'prctl',
    retType: I32,
    paramsType: [I32, I64, I64, I64, I64],
    paramsValue: [option, value, 0, 0, 0],
  });

const setDescriptorFlags = (fd: number, flags: number): number =>
  load({
    library: LIBRARY,
    funcName: 'fcntl',
    retType: I32,
    paramsType: [I32, I32, I64],
    paramsValue: [fd, F_SETFD, flags],
  });
