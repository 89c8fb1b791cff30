import { DEFAULT_PORTS, type SettingName, type Settings } from '../../core/index.js';
import { clickHouseTarget } from '../service/clickhouse-target.js';
import { type RunningService, runningServices } from '../service/registry.js';
import { PortClaims } from '../up/port-claims.js';
import { type Check, type Finding, fail, ok } from './check.js';

interface Port {
  readonly wanted: number;
  readonly use: string;
  /** Address that `up` would listen on. */
  readonly host?: string;
  /** Whether the flag was given: then `up` uses no other port. */
  readonly asked: boolean;
  readonly flag: string;
  /** The port that this instance uses now, if it is running. */
  readonly own: number | undefined;
}

export interface RequestedPorts {
  readonly given: ReadonlySet<SettingName>;
  /** Port of the simulated exchange; undefined if the flag was not given. */
  readonly exchangePort: number | undefined;
  /** The ports that `up` tries first. */
  readonly defaults?: Readonly<Record<keyof typeof DEFAULT_PORTS, number>>;
}

/** Checks the ports that `chancery up` would listen on: free, used by this instance, or taken, and the port used instead. */
export function portsCheck(settings: Settings, asked: RequestedPorts): Check {
  return { name: 'ports', run: () => portsFinding(portsOf(settings, asked)) };
}

function portsOf(settings: Settings, { given, exchangePort, defaults = DEFAULT_PORTS }: RequestedPorts): Port[] {
  const services = runningServices(settings.data);
  const { clickhousePort, viewerHost, viewerPort, metricsPort, metricsHost } = settings;
  const ports: Port[] = [];
  if (!given.has('exchangeUrl')) {
    ports.push({
      wanted: exchangePort ?? defaults.exchange,
      use: 'simulated exchange',
      asked: exchangePort !== undefined,
      flag: '--exchange-port',
      own: portOf(services.find(({ service }) => service === 'exchange')?.address),
    });
  }
  if (clickHouseTarget(settings).kind === 'embedded') {
    ports.push({
      wanted: clickhousePort || defaults.clickhouse,
      use: 'ClickHouse',
      asked: clickhousePort !== 0,
      flag: '--clickhouse-port',
      own: portOf(services.find(({ service }) => service === 'clickhouse')?.address),
    });
  }
  ports.push({
    wanted: viewerPort || defaults.viewer,
    use: 'viewer',
    host: viewerHost,
    asked: viewerPort !== 0,
    flag: '--viewer-port',
    own: portOf(services.find(({ service }) => service === 'view')?.address),
  });
  if (metricsPort !== 0) {
    const own = services.map(healthPort).find((port) => port === metricsPort);
    ports.push({ wanted: metricsPort, use: 'metrics', host: metricsHost, asked: true, flag: '--metrics-port', own });
  }
  return ports;
}

const healthPort = ({ health }: RunningService) => portOf(health);

function portOf(address: string | undefined): number | undefined {
  const port = /:(\d+)\/?$/.exec(address ?? '')?.[1];
  return port === undefined ? undefined : Number(port);
}

async function portsFinding(ports: readonly Port[]): Promise<Finding> {
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
    if (state === undefined && asked) fix.push(`choose another with ${flag}, or omit it to use a free one`);
    found.push(
      `${wanted} (${use}) ${state ?? `is taken by another program${asked ? '' : await instead(port, claims)}`}`,
    );
  }
  return fix.length === 0 ? ok(found.join('; ')) : fail(found.join('; '), fix.join('; '));
}

/** The port that `up` uses, or would use, instead of a default port that is taken. */
async function instead({ wanted, own }: Port, claims: PortClaims): Promise<string> {
  if (own !== undefined) return `, this instance uses ${own}`;
  return `, \`up\` uses ${await claims.claimFrom(wanted)} instead`;
}
