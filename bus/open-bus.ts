import { readFileSync } from 'node:fs';
import {
  describeError,
  flagOf,
  type Logger,
  Secret,
  type SettingName,
  type Settings,
  UsageError,
} from '../core/index.js';
import type { Bus } from './bus.js';
import { openEmbeddedBus } from './embedded/embedded-bus.js';
import { openKafkaBus } from './kafka/kafka-bus.js';
import type { KafkaBusOptions } from './kafka/options.js';

interface OpenBusOptions {
  /** Folder of the embedded log; unused with Kafka. */
  readonly dir: string;
  /** Option of the embedded log. */
  readonly retentionEveryMs?: number;
  readonly log?: Logger;
}

/** The configured bus: Kafka if brokers are named, else the embedded log. */
export function openBus(settings: Settings, options: OpenBusOptions): Bus {
  const kafka = kafkaOptions(settings);
  return kafka ? openKafkaBus({ ...kafka, log: options.log }) : openEmbeddedBus(options);
}

/**
 * Options of Kafka from the settings; undefined when they name no brokers.
 * @throws UsageError for a file that cannot be read, and for SASL without a user
 */
function kafkaOptions(settings: Settings): KafkaBusOptions | undefined {
  if (settings.kafkaBrokers === undefined) return undefined;
  return {
    brokers: settings.kafkaBrokers.split(','),
    prefix: settings.kafkaPrefix,
    replication: settings.kafkaReplication,
    compression: settings.kafkaCompression,
    sessionTimeoutMs: settings.kafkaSessionMs,
    tls: tlsOf(settings),
    sasl: saslOf(settings),
  };
}

function tlsOf(settings: Settings): KafkaBusOptions['tls'] {
  const { kafkaTlsCa, kafkaTlsCert, kafkaTlsKey } = settings;
  if (!settings.kafkaTls && !kafkaTlsCa && !kafkaTlsCert && !kafkaTlsKey) return undefined;
  return {
    ...(kafkaTlsCa ? { ca: read('kafkaTlsCa', kafkaTlsCa) } : {}),
    ...(kafkaTlsCert ? { cert: read('kafkaTlsCert', kafkaTlsCert) } : {}),
    ...(kafkaTlsKey ? { key: read('kafkaTlsKey', kafkaTlsKey) } : {}),
  };
}

function saslOf(settings: Settings): KafkaBusOptions['sasl'] {
  const { kafkaSasl: mechanism, kafkaUser: username, kafkaBrokers = '' } = settings;
  if (mechanism === 'none') return undefined;
  const local = kafkaBrokers.split(',').every((broker) => /^(127\.|localhost:)/.test(broker));
  if (mechanism === 'plain' && !local && tlsOf(settings) === undefined) {
    throw new UsageError(
      `${flagOf('kafkaSasl')} plain would send the password unencrypted: set ${flagOf('kafkaTls')}, or use scram-sha-512`,
    );
  }
  if (!username) throw new UsageError(`${flagOf('kafkaSasl')} ${mechanism} needs a user: set ${flagOf('kafkaUser')}`);
  return { mechanism, username, password: new Secret(settings.kafkaPassword) };
}

function read(setting: SettingName, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${path} (${flagOf(setting)}): ${describeError(error)}`, { cause: error });
  }
}
