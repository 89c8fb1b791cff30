import { randomUUID } from 'node:crypto';
import kafkajs, { type Admin } from 'kafkajs';
import { afterAll, beforeAll, describe } from 'vitest';
import { type Bus, type KafkaBusOptions, openKafkaBus } from '../../bus/index.js';
import { describeWithout } from '../support/describe-without.js';
import { askServices } from '../support/services/client.js';
import { KAFKA_USER } from '../support/services/shared-kafka.js';
import { until } from '../support/until.js';
import { Broker } from './broker.js';
import { whyNoBroker } from './jars.js';
import { KafkaProxy } from './proxy.js';

/** A broker starts in 6 to 15 s on a busy machine, and some tests restart theirs twice. */
const TEST_MS = 180_000;
const START_MS = 180_000;

/** What a suite needs, beyond the broker that all test files share or the cluster that KAFKA_BROKERS names. */
export interface KafkaNeeds {
  /** A broker of its own, which it kills or restarts. */
  readonly own?: boolean;
  /** A proxy before the broker. */
  readonly proxy?: boolean;
  /** A listener with TLS and a login. */
  readonly secure?: boolean;
}

/** The Kafka that a suite runs on. */
export interface KafkaUnderTest {
  readonly brokers: readonly string[];
  /** The suite's own broker, if it needs one. */
  readonly own: Broker;
  /** The proxy, if the suite needs one; a bus goes through it whose `brokers` are the proxy's address. */
  readonly proxy: KafkaProxy;
  /** The listener with TLS and a login, if the suite needs one. */
  readonly secure: SecureListener;
  /** A bus with topics of its own, or with those of another bus by its `prefix`. Closed at the end of the suite. */
  open(options?: Partial<KafkaBusOptions>): Bus & { readonly prefix: string };
  /** An admin client, to delete records, which the bus does not. Names are those in Kafka. */
  admin(): Promise<Admin>;
  /** Deletes a topic, named as in Kafka, and waits until the broker does not list it any more. */
  deleteTopic(name: string): Promise<void>;
  /** Creates a topic, named as in Kafka, with compression.type=producer: batches are stored as the producer compressed them. */
  createForeignTopic(name: string, partitions: number): Promise<void>;
}

export interface SecureListener {
  /** `host:port` */
  readonly address: string;
  /** As PEM. */
  readonly certificate: string;
  readonly user: string;
  readonly password: string;
}

/**
 * A suite that needs a Kafka broker. Without one it is skipped, with a line that says why, and fails if
 * CI=true.
 */
export function describeWithKafka(name: string, needs: KafkaNeeds, body: (kafka: KafkaUnderTest) => void): void {
  const running = process.env['KAFKA_BROKERS']?.split(',').map((broker) => broker.trim());
  const special = needs.own || needs.proxy || needs.secure;
  const why = running ? special && 'it needs a broker of this project, and KAFKA_BROKERS is set' : whyNoBroker();
  if (why) {
    describeWithout(name, why, { failsInCi: !running }, () => body(new Rig(needs, running)));
    return;
  }
  describe(name, { timeout: TEST_MS }, () => {
    const rig = new Rig(needs, running);
    beforeAll(() => rig.start(), START_MS);
    afterAll(() => rig.stop());
    body(rig);
  });
}

class Rig implements KafkaUnderTest {
  #brokers: readonly string[] | undefined;
  #own: Broker | undefined;
  #proxy: KafkaProxy | undefined;
  #secure: SecureListener | undefined;
  readonly #open: Bus[] = [];
  #admin: Admin | undefined;

  constructor(
    private readonly needs: KafkaNeeds,
    running: readonly string[] | undefined,
  ) {
    this.#brokers = running;
  }

  get brokers(): readonly string[] {
    return given(this.#brokers, 'broker');
  }

  get own(): Broker {
    return given(this.#own, 'broker of its own');
  }

  get proxy(): KafkaProxy {
    return given(this.#proxy, 'proxy');
  }

  get secure(): SecureListener {
    return given(this.#secure, 'secure listener');
  }

  async start(): Promise<void> {
    if (this.#brokers) return;
    if (this.needs.own) {
      this.#own = await Broker.start();
      this.#brokers = [this.#own.address];
      return;
    }
    const { address, secureAddress, certificate } = await askServices('/kafka');
    this.#brokers = [address];
    if (this.needs.secure) this.#secure = { address: secureAddress, certificate, ...KAFKA_USER };
    if (this.needs.proxy) this.#proxy = await KafkaProxy.listen(await askServices('/kafka-proxy'));
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
    // The controller has deleted it; the broker is notified a little later.
    await until(async () => !(await admin.listTopics()).includes(name) || `${name} is still there`);
  }

  async createForeignTopic(name: string, partitions: number): Promise<void> {
    await (await this.admin()).createTopics({ topics: [{ topic: name, numPartitions: partitions }] });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#open.map((bus) => bus.close()));
    await this.#admin?.disconnect();
    if (this.#proxy) {
      const { port } = this.#proxy;
      await this.#proxy.close();
      await askServices('/kafka-proxy-end', String(port));
    }
    await this.#own?.remove();
  }
}

function given<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`this suite did not ask for a ${name}, or it is not started`);
  return value;
}
