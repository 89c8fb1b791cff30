import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DEFAULT_PORTS, describeError, UsageError, writeFileAtomicSync } from '../../core/index.js';

/** Where the collectors of docker-compose.yml find the simulated exchange: they share its network. */
const SIMULATED_EXCHANGE = `http://127.0.0.1:${DEFAULT_PORTS.exchange}`;

export interface EnvFileOptions {
  /** Undefined: the simulated one. */
  readonly exchangeUrl: string | undefined;
  /** Whether a file that is there is replaced. */
  readonly force: boolean;
}

/**
 * Writes what docker-compose.yml needs to know, with passwords made just now, mode 0600. A file that is replaced hands
 * on its Kafka cluster ID, for the data of a cluster can be opened under its own ID only.
 * @throws UsageError when the file is there and may not be replaced, or cannot be written
 */
export function writeEnvFile(path: string, { exchangeUrl, force }: EnvFileOptions): { replaced: boolean } {
  const former = read(path);
  if (former !== undefined && !force) {
    throw new UsageError(
      `${path} is there already and may hold passwords that are in use; ` +
        'keep it, replace it with --force, or name another with --file',
    );
  }
  const text = envText(exchangeUrl, /^KAFKA_CLUSTER_ID=([\w-]{22})$/m.exec(former ?? '')?.[1] ?? newClusterId());
  try {
    writeFileAtomicSync(path, text);
  } catch (error) {
    throw new UsageError(`cannot write ${path}: ${describeError(error)}`, { cause: error });
  }
  return { replaced: former !== undefined };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`cannot read ${path}: ${describeError(error)}`, { cause: error });
  }
}

function envText(exchangeUrl: string | undefined, clusterId: string): string {
  return `# Made by \`chancery init\`, read by docker compose. It holds passwords: keep it to yourself and out of git.

# The exchange that is recorded. With the profile "demo" it is the simulated one, which runs beside the collectors.
CHANCERY_EXCHANGE_URL=${exchangeUrl ?? SIMULATED_EXCHANGE}
COMPOSE_PROFILES=${exchangeUrl === undefined ? 'demo' : ''}

# The data of Kafka can be opened under this ID only.
KAFKA_CLUSTER_ID=${clusterId}

# Chancery writes as owner; Grafana, and people, ask as reader.
CLICKHOUSE_OWNER_PASSWORD=${newPassword()}
CLICKHOUSE_READER_PASSWORD=${newPassword()}

# The user is admin.
GRAFANA_ADMIN_PASSWORD=${newPassword()}
`;
}

/** 192 bits, in letters that need no quoting anywhere. */
const newPassword = (): string => randomBytes(24).toString('base64url');

/** A Kafka UUID; Kafka's own never begin with a dash either, which a command line would take for an option. */
function newClusterId(): string {
  for (;;) {
    const id = randomBytes(16).toString('base64url');
    if (!id.startsWith('-')) return id;
  }
}
