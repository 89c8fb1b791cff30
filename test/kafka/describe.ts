import { randomUUID } from 'node:crypto';
import kafkajs, { type Admin } from 'kafkajs';
import { afterAll, beforeAll, describe } from 'vitest';
import { type Bus, type KafkaBusOptions, openKafkaBus } from '../../bus/index.js';
import { until } from '../pipeline/rig.js';
import { describeWithout } from '../support/describe-without.js';
import { Broker } from './broker.js';
import { whyNoBroker } from './jars.js';
import type { Listeners } from './properties.js';
import { KafkaProxy } from './proxy.js';

/** A broker starts in 6 to 15 s on a busy machine, and some tests restart theirs twice. */
const TEST_MS = 180_000;
const START_MS = 180_000;

interface OwnBroker extends Pick<Listeners, 'security'> {
  /** With a proxy in front of it. */
  readonly proxy?: boolean;
}

/** The Kafka that a suite runs on: a broker of its own, or the cluster that KAFKA_BROKERS names. */
export interface KafkaUnderTest {
  readonly brokers: readonly string[];
  /** The suite's own broker. Throws with a running cluster: suites that need it set `own`. */
  readonly own: Broker;
  /** The proxy in front of it; a bus uses it if its `brokers` are the proxy's address. */
  readonly proxy: KafkaProxy;
  /** A bus with topics of its own; with the `prefix` of another bus it shares them. Closed at the end of the suite. */
  open(options?: Partial<KafkaBusOptions>): Bus & { readonly prefix: string };
  /** An admin client, to delete records, which the bus does not. Names are those in Kafka. */
  admin(): Promise<Admin>;
  /** Deletes a topic, named as in Kafka, and waits until the broker does not list it any more. */
  deleteTopic(name: string): Promise<void>;
  /** Creates a topic, named as in Kafka, with compression.type=producer: batches are stored as the producer compressed them. */
  createForeignTopic(name: string, partitions: number): Promise<void>;
}

/**
 * A suite that needs a Kafka broker. Without one it is skipped, with a line that says why, and fails if
 * CI=true.
 * @param options `own`: the suite kills, restarts or configures its broker, so no running cluster will do
 */
export function describeWithKafka(
  name: string,
  options: { own?: boolean | OwnBroker },
  body: (kafka: KafkaUnderTest) => void,
): void {
  const running = process.env['KAFKA_BROKERS']?.split(',').map((broker) => broker.trim());
  const why = running ? options.own && 'it needs a broker of its own, and KAFKA_BROKERS is set' : whyNoBroker();
  if (why) {
    describeWithout(name, why, { failsInCi: !running }, () => body(new Rig(running, {})));
    return;
  }
  describe(name, { timeout: TEST_MS }, () => {
    const rig = new Rig(running, typeof options.own === 'object' ? options.own : {});
    beforeAll(() => rig.start(), START_MS);
    afterAll(() => rig.stop());
    body(rig);
  });
}

class Rig implements KafkaUnderTest {
  #own: Broker | undefined;
  #proxy: KafkaProxy | undefined;
  readonly #open: Bus[] = [];
  #admin: Admin | undefined;

  constructor(
    private readonly running: readonly string[] | undefined,
    private readonly options: OwnBroker,
  ) {}

  get brokers(): readonly string[] {
    return this.running ?? [this.own.address];
  }

  get own(): Broker {
    if (!this.#own) throw new Error('this suite has no broker of its own');
    return this.#own;
  }

  get proxy(): KafkaProxy {
    if (!this.#proxy) throw new Error('this suite has no proxy');
    return this.#proxy;
  }

  async start(): Promise<void> {
    if (this.running) return;
    const { security, proxy } = this.options;
    if (proxy) this.#proxy = await KafkaProxy.listen();
    this.#own = await Broker.start({
      ...(security ? { security } : {}),
      ...(this.#proxy ? { proxyPort: this.#proxy.port } : {}),
    });
    if (this.#proxy) this.#proxy.target = this.#own.proxiedPort;
  }

  open(options: Partial<KafkaBusOptions> = {}): Bus & { readonly prefix: string } {
    const prefix = options.prefix ?? `test-${randomUUID().slice(0, 8)}.`;
    const bus = openKafkaBus({
      brokers: this.brokers,
      sessionTimeoutMs: 5000,
      topicsEveryMs: 500,
      apiTimeoutMs: 60_000,
      ...options,
      prefix,
    });
    this.#open.push(bus);
    return Object.assign(bus, { prefix });
  }

  async admin(): Promise<Admin> {
    if (!this.#admin) {
      const { Kafka, logLevel } = kafkajs;
      this.#admin = new Kafka({ brokers: [...this.brokers], logLevel: logLevel.NOTHING }).admin();
      await this.#admin.connect();
    }
    return this.#admin;
  }

  async deleteTopic(name: string): Promise<void> {
    const admin = await this.admin();
    await admin.deleteTopics({ topics: [name] });
    // The controller has deleted it; the broker learns of that a little later.
    await until(20_000, async () => !(await admin.listTopics()).includes(name) || `${name} is still there`);
  }

  async createForeignTopic(name: string, partitions: number): Promise<void> {
    await (await this.admin()).createTopics({ topics: [{ topic: name, numPartitions: partitions }] });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#open.map((bus) => bus.close()));
    await this.#admin?.disconnect();
    await this.#proxy?.close();
    await this.#own?.remove();
  }
}
