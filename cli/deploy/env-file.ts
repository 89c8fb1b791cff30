import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DEFAULT_PORTS, describeError, newPassword, UsageError, writeFileAtomicSync } from '../../core/index.js';

/** Address of the simulated exchange for the collectors of docker-compose.yml, which share its network. */
const SIMULATED_EXCHANGE = `http://127.0.0.1:${DEFAULT_PORTS.exchange}`;

export interface EnvFileOptions {
  /** Undefined means the simulated one. */
  readonly exchangeUrl: string | undefined;
  /** Whether an existing file is replaced. */
  readonly force: boolean;
}

/**
 * Writes the settings for docker-compose.yml, with new passwords, mode 0600. The Kafka cluster ID of a replaced file is
 * retained, since a cluster's data can be opened under its own ID only.
 * @throws UsageError when the file exists and may not be replaced, or cannot be written
 */
export function writeEnvFile(path: string, { exchangeUrl, force }: EnvFileOptions): { replaced: boolean } {
  const former = read(path);
  if (former !== undefined && !force) {
    throw new UsageError(
      `${path} exists and may hold passwords that are in use; ` +
        'keep it, replace it with --force, or name another with --file',
    );
  }
  const text = envText(exchangeUrl, /^KAFKA_CLUSTER_ID=([\w-]{22})$/m.exec(former ?? '')?.[1] ?? newClusterId());
  if (!existsSync(dirname(path))) throw new UsageError(`the folder ${dirname(path)} does not exist; create it first`);
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
  return `# Written by \`chancery init\` for docker compose. It holds passwords: keep it private and out of git.

# The recorded exchange. The profile "demo" starts the simulated one beside the collectors.
CHANCERY_EXCHANGE_URL=${exchangeUrl ?? SIMULATED_EXCHANGE}
COMPOSE_PROFILES=${exchangeUrl === undefined ? 'demo' : ''}

# Kafka's data can be opened under this ID only.
KAFKA_CLUSTER_ID=${clusterId}

# Chancery writes as owner; Grafana and other clients query as reader.
CLICKHOUSE_OWNER_PASSWORD=${newPassword()}
CLICKHOUSE_READER_PASSWORD=${newPassword()}

# The user is admin.
GRAFANA_ADMIN_PASSWORD=${newPassword()}
`;
}

/** A Kafka UUID. As in Kafka, it does not begin with a dash, which a command line would parse as an option. */
function newClusterId(): string {
  for (;;) {
    const id = randomBytes(16).toString('base64url');
    if (!id.startsWith('-')) return id;
  }
}
