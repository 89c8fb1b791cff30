import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { processSignal, UsageError } from '../../core/index.js';
import { instancePaths } from '../parts/instance.js';
import { connectReadOnly, type ReadOnly } from '../parts/read-only.js';
import { settingsOf, withSettings } from '../settings.js';
import { SQL } from '../settings-by-command.js';
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

/** `chancery sql`: questions to what was recorded, as a user who can only read. */
export function define(command: Command): void {
  command
    .argument('[statement]', 'a question in SQL; read from standard input when it is left out')
    .addOption(
      new Option('--format <FORMAT>', 'how the answer is written (default: table)')
        .choices(OUTPUT_FORMATS)
        .default('table', ''),
    )
    .option('--console', 'open a prompt, and say how to connect with other tools')
    .addHelpText('after', EXAMPLES.trimEnd())
    .action(async (argument: string | undefined, options: { format: OutputFormat; console?: boolean }) => {
      const { settings } = settingsOf(command);
      const printer: Printer = { out: process.stdout, remarks: process.stderr };
      if (options.console) {
        if (argument !== undefined) throw new UsageError('give a statement or --console, not both');
        const connection = await connectReadOnly(settings, new AbortController().signal);
        await withConnection(connection, async () => {
          greet(connection);
          await runConsole({
            client: connection.client,
            format: options.format,
            input: process.stdin,
            printer,
            historyPath: instancePaths(settings.data).sqlHistory,
          });
        });
        return;
      }
      const statement = argument ?? (await statementFromInput());
      const signal = processSignal();
      const connection = await connectReadOnly(settings, signal);
      await withConnection(connection, async () => {
        await printAnswer(await ask(connection.client, statement, options.format, signal), options.format, printer);
      });
    });
  withSettings(command, SQL);
}

async function withConnection(connection: ReadOnly, work: () => Promise<void>): Promise<void> {
  try {
    await work();
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

function greet({ otherTools, temporary }: ReadOnly): void {
  if (temporary) process.stderr.write('No ClickHouse ran on this data folder: one was started for this prompt.\n');
  process.stderr.write(`Statements end with ; and may have many lines. Leave with exit or Ctrl-D.\n\n`);
  process.stderr.write(`${otherTools.map((line) => `  ${line}`).join('\n')}\n\n`);
}
