import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import type { ClickHouseClient } from '@clickhouse/client';
import { ChanceryError, describeError, printable } from '../../core/index.js';
import { type Printer, printAnswer } from './print.js';
import { ask, type OutputFormat } from './query.js';

const HISTORY_LINES = 1000;
const PROMPT = 'chancery> ';
const MORE = '       -> ';

export interface ConsoleOptions {
  readonly client: ClickHouseClient;
  readonly format: OutputFormat;
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly printer: Printer;
  /** File with the statements of earlier sessions. */
  readonly historyPath: string;
}

/** Reads statements that end with `;` and runs each, until `exit`, Ctrl-D, or Ctrl-C on an empty line. */
export async function runConsole({ client, format, input, printer, historyPath }: ConsoleOptions): Promise<void> {
  const lines = createInterface({
    input,
    output: printer.out,
    terminal: input.isTTY === true,
    history: readHistory(historyPath),
    historySize: HISTORY_LINES,
    removeHistoryDuplicates: true,
    prompt: PROMPT,
  });
  lines.on('history', (history: string[]) => writeHistory(historyPath, history));
  let statement = '';
  let running: AbortController | undefined;
  const show = () => {
    if (!input.isTTY) return;
    lines.setPrompt(statement === '' ? PROMPT : MORE);
    lines.prompt();
  };
  lines.on('SIGINT', () => {
    if (running) return running.abort(new Interrupted());
    if (statement === '' && lines.line === '') return lines.close();
    statement = '';
    lines.write(null, { ctrl: true, name: 'u' });
    printer.out.write('\n');
    show();
  });
  show();
  for await (const line of lines) {
    if (statement === '' && /^\s*(exit|quit|\\q)\s*;?\s*$/i.test(line)) break;
    statement = statement === '' ? line.trimStart() : `${statement}\n${line}`;
    if (endsStatement(statement)) {
      running = new AbortController();
      await answer(client, statement, format, printer, running.signal);
      running = undefined;
      statement = '';
    }
    show();
  }
  lines.close();
}

async function answer(
  client: ClickHouseClient,
  statement: string,
  format: OutputFormat,
  printer: Printer,
  signal: AbortSignal,
): Promise<void> {
  try {
    await printAnswer(await ask(client, statement, format, signal), format, printer);
  } catch (error) {
    if (!(error instanceof ChanceryError)) throw error;
    printer.remarks.write(`${printable(describeError(error))}\n`);
  }
}

/** Ctrl-C while a statement was running. */
class Interrupted extends ChanceryError {
  readonly retryable = false;
  constructor() {
    super('interrupted');
  }
}

/** Whether the text ends with a semicolon that is not inside quotes or a comment. */
export function endsStatement(text: string): boolean {
  const bare = text
    .replace(/'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S])*"|`(?:[^`\\]|\\[\s\S])*`|--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    .trimEnd();
  return bare.endsWith(';') && !/['"`]|\/\*/.test(bare);
}

function readHistory(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/** Statements may contain account names, so the file is private. A failure to write it does not end the session. */
function writeHistory(path: string, history: readonly string[]): void {
  try {
    writeFileSync(path, history.join('\n'), { mode: 0o600 });
    chmodSync(path, 0o600);
  } catch {
    // Full disk: the history of this session stays in memory.
  }
}
