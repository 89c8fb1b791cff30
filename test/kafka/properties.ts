import { join } from 'node:path';

export interface Ports {
  readonly plain: number;
  readonly controller: number;
  readonly secure: number;
  readonly proxied: readonly ProxiedPort[];
}

/** A listener for a proxy. */
export interface ProxiedPort {
  /** Port of the proxy, which the broker advertises to clients that connect through it. */
  readonly port: number;
  /** Where the broker listens for the proxy. */
  readonly target: number;
}

export interface Listeners {
  /** Also listens with TLS and SASL (PLAIN and SCRAM) for this user. */
  readonly security?: { readonly user: string; readonly password: string };
  /** Number of further listeners, each for a proxy. */
  readonly proxies?: number;
}

export const KEYSTORE_PASSWORD = 'keystore-password';

/** The configuration of a single KRaft node: small, quick to start, and quick to start again after it was killed. */
export function brokerProperties(dir: string, ports: Ports, security: Listeners['security']): string {
  const listeners = [`PLAINTEXT://127.0.0.1:${ports.plain}`];
  if (security) listeners.push(`SECURE://127.0.0.1:${ports.secure}`);
  const advertised = [...listeners];
  const protocols = ['PLAINTEXT:PLAINTEXT', 'CONTROLLER:PLAINTEXT', 'SECURE:SASL_SSL'];
  for (const [i, { port, target }] of ports.proxied.entries()) {
    listeners.push(`PROXIED${i}://127.0.0.1:${target}`);
    advertised.push(`PROXIED${i}://127.0.0.1:${port}`);
    protocols.push(`PROXIED${i}:PLAINTEXT`);
  }
  const properties: Record<string, string | number> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${ports.controller}`,
    listeners: [...listeners, `CONTROLLER://127.0.0.1:${ports.controller}`].join(','),
    'advertised.listeners': advertised.join(','),
    'listener.security.protocol.map': protocols.join(','),
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': join(dir, 'data'),
    'min.insync.replicas': 1,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 500,
    'auto.create.topics.enable': 'false',
    'num.network.threads': 2,
    'num.io.threads': 2,
    'num.recovery.threads.per.data.dir': 1,
    'background.threads': 2,
    'log.cleaner.dedupe.buffer.size': 2_097_152,
    'log.cleaner.threads': 1,
    'log.segment.bytes': 67_108_864,
    // Deletes the files of a deleted topic immediately.
    'file.delete.delay.ms': 100,
    // After kill -9 a broker can register again only when its former session has expired.
    'controlled.shutdown.enable': 'true',
    'broker.heartbeat.interval.ms': 300,
    'broker.session.timeout.ms': 1500,
    ...(security ? secureProperties(dir, security) : {}),
  };
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function secureProperties(dir: string, { user, password }: NonNullable<Listeners['security']>) {
  const login = (module: string, rest: string) => `org.apache.kafka.common.security.${module} required ${rest};`;
  const scram = login('scram.ScramLoginModule', '');
  return {
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'listener.name.secure.plain.sasl.jaas.config': login('plain.PlainLoginModule', `user_${user}="${password}"`),
    'listener.name.secure.scram-sha-256.sasl.jaas.config': scram,
    'listener.name.secure.scram-sha-512.sasl.jaas.config': scram,
    'ssl.keystore.type': 'PKCS12',
    'ssl.keystore.location': join(dir, 'broker.p12'),
    'ssl.keystore.password': KEYSTORE_PASSWORD,
  };
}
