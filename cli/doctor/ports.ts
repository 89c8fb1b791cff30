import { DEFAULT_PORTS, type SettingName, type Settings } from '../../core/index.js';
import { clickHouseTarget } from '../parts/clickhouse-target.js';
import { type RunningPart, runningParts } from '../parts/registry.js';
import { PortClaims } from '../up/port-claims.js';
import { type Check, type Finding, fail, ok } from './check.js';

interface Port {
  readonly wanted: number;
  readonly use: string;
  /** Address that `up` would listen on. */
  readonly host?: string;
  /** Whether the flag was given: `up` then takes no other port. */
  readonly asked: boolean;
  readonly flag: string;
  /** The port that this instance uses now, if it runs. */
  readonly own: number | undefined;
}

export interface PortsAsked {
  readonly given: ReadonlySet<SettingName>;
  /** Port of the simulated exchange; undefined if not given. */
  readonly exchangePort: number | undefined;
  /** Where `up` starts to look for a free port. */
  readonly defaults?: Readonly<Record<keyof typeof DEFAULT_PORTS, number>>;
}

/** The ports that `chancery up` would listen on: free, used by this instance, or taken, and what `up` does then. */
export function portsCheck(settings: Settings, asked: PortsAsked): Check {
  return { name: 'ports', run: () => portsFinding(portsOf(settings, asked)) };
}

function portsOf(settings: Settings, { given, exchangePort, defaults = DEFAULT_PORTS }: PortsAsked): Port[] {
  const parts = runningParts(settings.data);
  const { clickhousePort, metricsPort, metricsHost } = settings;
  const ports: Port[] = [];
  if (!given.has('exchangeUrl')) {
    ports.push({
      wanted: exchangePort ?? defaults.exchange,
      use: 'simulated exchange',
      asked: exchangePort !== undefined,
      flag: '--exchange-port',
      own: portOf(parts.find(({ part }) => part === 'exchange')?.address),
    });
  }
  if (clickHouseTarget(settings).kind === 'embedded') {
    ports.push({
      wanted: clickhousePort || defaults.clickhouse,
      use: 'ClickHouse',
      asked: clickhousePort !== 0,
      flag: '--clickhouse-port',
      own: portOf(parts.find(({ part }) => part === 'clickhouse')?.address),
    });
  }
  if (metricsPort !== 0) {
    const own = parts.map(healthPort).find((port) => port === metricsPort);
    ports.push({ wanted: metricsPort, use: 'metrics', host: metricsHost, asked: true, flag: '--metrics-port', own });
  }
  return ports;
}

const healthPort = ({ health }: RunningPart) => portOf(health);

function portOf(address: string | undefined): number | undefined {
  const port = /:(\d+)\/?$/.exec(address ?? '')?.[1];
  return port === undefined ? undefined : Number(port);
}

async function portsFinding(ports: readonly Port[]): Promise<Finding> {
  if (ports.length === 0) return ok('none needed: the exchange and ClickHouse are external');
  const claims = new PortClaims();
  try {
    return await triedPorts(ports, claims);
  } finally {
    claims.release();
  }
}

async function triedPorts(ports: readonly Port[], claims: PortClaims): Promise<Finding> {
  const found: string[] = [];
  const fix: string[] = [];
  for (const port of ports) {
    const { wanted, use, asked, flag, own, host } = port;
    const state =
      own === wanted ? 'is used by this instance' : (await claims.claim(wanted, host)) ? 'is free' : undefined;
    if (state === undefined && asked) fix.push(`choose another with ${flag}, or leave it out for a free one`);
    found.push(
      `${wanted} (${use}) ${state ?? `is taken by another program${asked ? '' : await instead(port, claims)}`}`,
    );
  }
  return fix.length === 0 ? ok(found.join('; ')) : fail(found.join('; '), fix.join('; '));
}

/** What `up` does, or did, about a default port that is taken. */
async function instead({ wanted, own }: Port, claims: PortClaims): Promise<string> {
  if (own !== undefined) return `, this instance uses ${own}`;
  return `, \`up\` takes ${await claims.claimFrom(wanted)} instead`;
}
