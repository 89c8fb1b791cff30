import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { processSignal, type Settings, UsageError } from '../../core/index.js';
import { instancePaths } from '../service/instance.js';
import { connectReadOnly, type ReadOnly } from '../service/read-only.js';
import { settingsOf } from '../settings.js';
import { runConsole } from '../sql/console.js';
import { type Printer, printAnswer } from '../sql/print.js';
import { ask, OUTPUT_FORMATS, type OutputFormat } from '../sql/query.js';

const EXAMPLES = `
Examples:
  chancery sql "SELECT * FROM latest_prices LIMIT 5"
  chancery sql --format csv "SELECT * FROM gaps" > gaps.csv
  chancery sql < question.sql
  chancery sql --console
`;

const PRINTER: Printer = { out: process.stdout, remarks: process.stderr };

/** `chancery sql`: SQL queries as a read-only user. */
export function define(command: Command): void {
  command
    .argument('[statement]', 'SQL query; read from standard input if omitted')
    .addOption(new Option('--format <FORMAT>', 'output format').choices(OUTPUT_FORMATS).default('table'))
    .option('--console', 'open a prompt and show how to connect with other tools')
    .addHelpText('after', EXAMPLES.trimEnd())
    .action((argument: string | undefined, { format, console }: { format: OutputFormat; console?: boolean }) => {
      const { settings } = settingsOf(command);
      if (!console) return answerOnce(settings, argument, format);
      if (argument !== undefined) throw new UsageError('give a statement or --console, not both');
      return prompt(settings, format);
    });
}

async function answerOnce(settings: Settings, argument: string | undefined, format: OutputFormat): Promise<void> {
  const statement = argument ?? (await statementFromInput());
  const signal = processSignal();
  await withConnection(await connectReadOnly(settings, signal), async ({ client }) => {
    await printAnswer(await ask(client, statement, format, signal), format, PRINTER, signal);
  });
}

async function prompt(settings: Settings, format: OutputFormat): Promise<void> {
  await withConnection(await connectReadOnly(settings, new AbortController().signal), async (connection) => {
    printWelcome(connection);
    await runConsole({
      client: connection.client,
      format,
      input: process.stdin,
      printer: PRINTER,
      historyPath: instancePaths(settings.data).sqlHistory,
    });
  });
}

async function withConnection(connection: ReadOnly, work: (connection: ReadOnly) => Promise<void>): Promise<void> {
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}

async function statementFromInput(): Promise<string> {
  if (process.stdin.isTTY) {
    throw new UsageError(
      'give a statement, like chancery sql "SELECT * FROM latest_prices LIMIT 5", or open a prompt with --console',
    );
  }
  return text(process.stdin);
}

function printWelcome({ otherTools, temporary }: ReadOnly): void {
  if (temporary)
    process.stderr.write('No ClickHouse was running on this data folder: one was started for this session.\n');
  process.stderr.write(`Statements end with ; and may span lines. Quit with exit or Ctrl-D.\n\n`);
  process.stderr.write(`${otherTools.map((line) => `  ${line}`).join('\n')}\n\n`);
}
