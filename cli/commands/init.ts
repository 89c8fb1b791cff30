import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { writeEnvFile } from '../deploy/env-file.js';
import { optionNamedLike } from '../settings.js';

const EXAMPLES = `
Examples:
  chancery init
  chancery init --exchange-url https://exchange.example
  chancery init --force && docker compose up -d
`;

interface InitOptions {
  readonly file: string;
  readonly exchangeUrl?: string;
  readonly force?: boolean;
}

/** `chancery init`: writes the settings and new passwords that docker-compose.yml reads from `.env`. */
export function define(command: Command): void {
  command
    // Not --env-file: Node.js consumes that option itself, wherever it stands.
    .option('--file <FILE>', 'file to write (mode 0600)', '.env')
    .addOption(
      optionNamedLike(
        'exchangeUrl',
        'exchange to record, https only (default: the simulated one, which is then started)',
      ).argParser(httpsAddress),
    )
    .option('--force', 'replace the file, including all passwords')
    .addHelpText('after', EXAMPLES.trimEnd())
    .action(({ file, exchangeUrl, force = false }: InitOptions) => {
      const path = resolve(file);
      const { replaced } = writeEnvFile(path, { exchangeUrl, force });
      process.stdout.write(nextSteps(path, { demo: exchangeUrl === undefined, replaced }));
    });
}

/** In a container, loopback is the container itself; for other addresses the client accepts https only. */
function httpsAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url?.protocol !== 'https:' ||
    url.username !== '' ||
    url.search !== '' ||
    url.hash !== '' ||
    /[\s$'"]/.test(text)
  ) {
    throw new InvalidArgumentError('it must be an address like https://exchange.example, without user or query');
  }
  return text;
}

function nextSteps(path: string, { demo, replaced }: { demo: boolean; replaced: boolean }): string {
  const lines = [
    `${replaced ? 'replaced' : 'wrote'} ${path}: new passwords of ClickHouse and Grafana, readable only by you`,
    '',
    'next, in the folder of docker-compose.yml:',
    `  docker compose up -d --build    Kafka, ClickHouse, Grafana, collectors, workers${demo ? ', and the simulated exchange' : ''}`,
    '  docker compose ps               what runs, and whether it is healthy',
    '  http://127.0.0.1:3000           Grafana; user admin, password GRAFANA_ADMIN_PASSWORD of the file',
  ];
  if (replaced) {
    lines.push(
      '',
      'Running services use the new passwords after: docker compose up -d --force-recreate',
      'An existing Grafana keeps its password; change it: docker compose exec grafana grafana cli admin reset-admin-password NEW',
    );
  }
  return `${lines.join('\n')}\n`;
}
