import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { BusClosedError, openBus, openKafkaBus } from '../../bus/index.js';
import { loadConfig, UsageError } from '../../core/index.js';
import { describeWithKafka } from '../kafka/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { readAll } from './rig.js';

const KEEP = { retentionMs: null, retentionBytes: null };

describeWithKafka('Kafka with TLS and a login', { secure: true }, (kafka) => {
  let dir: string;
  beforeAll(() => {
    dir = temporaryFolder();
    writeFileSync(join(dir, 'ca.pem'), kafka.secure.certificate);
  });

  /** Opens the bus that these settings configure, appends a record, and reads it back. */
  async function roundTrip(flags: Record<string, unknown>): Promise<string[][]> {
    const settings = loadConfig(
      { kafkaBrokers: kafka.secure.address, kafkaTlsCa: join(dir, 'ca.pem'), kafkaUser: kafka.secure.user, ...flags },
      { CHANCERY_KAFKA_PASSWORD: kafka.secure.password },
      dir,
    );
    const bus = openBus(settings, { dir: join(dir, 'bus') });
    try {
      await bus.ensureTopic(`t-${settings.kafkaSasl}`, { partitions: 1, ...KEEP });
      await bus.append(`t-${settings.kafkaSasl}`, [{ key: 'k', value: Buffer.from('v') }]);
      return await readAll(bus, `t-${settings.kafkaSasl}`);
    } finally {
      await bus.close();
    }
  }

  for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512']) {
    it(`accepts a login by ${mechanism}`, async () => {
      expect(await roundTrip({ kafkaSasl: mechanism })).toEqual([['v']]);
    });
  }

  it('is reported in one line when it refuses the login', async () => {
    const wrong = roundTrip({ kafkaSasl: 'scram-sha-512', kafkaPassword: 'wrong' });
    await expect(wrong).rejects.toThrow(UsageError);
    await expect(roundTrip({ kafkaSasl: 'plain', kafkaUser: 'nobody' })).rejects.toThrow(
      /refuses the login.*--kafka-user/,
    );
  });

  it('is not trusted without the CA of its certificate', async () => {
    const failure = await roundTrip({ kafkaSasl: 'plain', kafkaTls: true, kafkaTlsCa: undefined }).catch((e) => e);
    expect(failure).toBeInstanceOf(UsageError);
    expect(failure.message).toMatch(/TLS handshake .*failed.*--kafka-tls/);
    expect(failure.message).not.toContain(kafka.secure.password);
  });

  it('is distinguished from one without TLS', async () => {
    const bus = openKafkaBus({ brokers: [kafka.secure.address] });
    const failure = await bus.partitions().catch((error) => error);
    await bus.close();
    expect(failure).toBeInstanceOf(UsageError);
    expect(failure.message).toMatch(/TLS handshake .*failed: .*server uses TLS; check --kafka-tls/);
  });
});

describe('the configured bus', () => {
  const settings = (flags: Record<string, unknown>) => loadConfig(flags, {}, tmpdir());

  it('is the embedded log unless brokers are named', async () => {
    const dir = temporaryFolder();
    try {
      const bus = openBus(settings({}), { dir });
      await bus.ensureTopic('t', { partitions: 1, ...KEEP });
      expect(await bus.partitions()).toHaveLength(1);
      await bus.close();
    } finally {
    }
  });

  it('refuses invalid brokers, logins and files', () => {
    expect(() => settings({ kafkaBrokers: 'kafka1' })).toThrow(/HOST:PORT/);
    const kafka = { kafkaBrokers: 'kafka1:9092' };
    const open = (flags: Record<string, unknown>) => () => openBus(settings({ ...kafka, ...flags }), { dir: tmpdir() });
    expect(open({ kafkaSasl: 'scram-sha-512' })).toThrow(/set --kafka-user/);
    expect(open({ kafkaSasl: 'plain', kafkaUser: 'u' })).toThrow(/unencrypted: set --kafka-tls/);
    expect(open({ kafkaTlsCa: '/nowhere/ca.pem' })).toThrow(/cannot read \/nowhere\/ca.pem \(--kafka-tls-ca\)/);
  });

  it('reports which brokers do not respond, and why', async () => {
    const bus = openKafkaBus({ brokers: ['127.0.0.1:1', '127.0.0.1:2'], apiTimeoutMs: 100 });
    await expect(bus.partitions()).rejects.toThrow(
      /no broker of Kafka at 127.0.0.1:1,127.0.0.1:2 responds.*ECONNREFUSED/,
    );
    await bus.close();
    await expect(bus.partitions()).rejects.toThrow(BusClosedError);
  });
});
