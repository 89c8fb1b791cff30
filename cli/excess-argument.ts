import type { Command } from 'commander';

/** Values that are commonly written after a flag that takes none. */
const YES_OR_NO = new Set(['true', 'false', 'yes', 'no', 'on', 'off', '1', '0']);

/**
 * The message about a superfluous argument; after a flag without a value it says so. Undefined when there is none.
 * @param program after it failed to parse the arguments
 * @param args without the program's own name
 */
export function excessArgument(program: Command, args: readonly string[]): string | undefined {
  const command = program.commands.find((candidate) => candidate.args.length > candidate.registeredArguments.length);
  const takes = command?.registeredArguments.length ?? 0;
  const excess = command?.args[takes];
  if (!command || excess === undefined) return undefined;
  for (const [index, arg] of args.entries()) {
    const flag = switchNamed(command, args[index - 1]);
    if (flag !== undefined && (arg === excess || YES_OR_NO.has(arg.toLowerCase())))
      return afterSwitch(command, arg, flag);
  }
  const most = takes === 0 ? 'no arguments' : takes === 1 ? 'one argument' : `${takes} arguments`;
  return `too many arguments for '${command.name()}': it takes ${most}, ${JSON.stringify(excess)} is one too many`;
}

function switchNamed(command: Command, name: string | undefined): string | undefined {
  const option = command.options.find(({ long, short }) => name !== undefined && (name === long || name === short));
  return option && !option.required && !option.optional ? option.long : undefined;
}

function afterSwitch(command: Command, arg: string, flag: string): string {
  const off = flag.replace('--', '--no-');
  const advice = command.options.some(({ long }) => long === off) ? `${flag} or ${off}` : `${flag} alone`;
  return `too many arguments for '${command.name()}': ${flag} is a switch, write ${advice} without ${JSON.stringify(arg)}`;
}
