import { Broker } from '../../kafka/broker.js';
import type { ProxiedPort } from '../../kafka/properties.js';

export interface SharedKafkaAddresses {
  /** `host:port` of the listener without TLS. */
  readonly address: string;
  /** `host:port` of the listener with TLS and SASL. */
  readonly secureAddress: string;
  /** Its certificate, as PEM. */
  readonly certificate: string;
}

/** User of the listener with SASL. */
export const KAFKA_USER = { user: 'chancery', password: 'not-so-secret' };
/** One per concurrent file, and one whose lease is about to end. */
const PROXIES = 4;

/** One broker, with a prefix of topics per test file. */
export class SharedKafka {
  #broker: Promise<Broker> | undefined;
  #free: ProxiedPort[] = [];
  readonly #leased = new Map<number, ProxiedPort>();

  async addresses(): Promise<SharedKafkaAddresses> {
    const { address, secureAddress, certificate } = await this.#started();
    return { address, secureAddress, certificate };
  }

  async leaseProxy(): Promise<ProxiedPort> {
    await this.#started();
    const lease = this.#free.shift();
    if (!lease) throw new Error(`all ${PROXIES} listeners of the shared Kafka for proxies are in use`);
    this.#leased.set(lease.port, lease);
    return lease;
  }

  async endLease(port: number): Promise<null> {
    const lease = this.#leased.get(port);
    if (lease) this.#free.push(lease);
    this.#leased.delete(port);
    return null;
  }

  async stop(): Promise<void> {
    await (await this.#broker?.catch(() => undefined))?.remove();
  }

  #started(): Promise<Broker> {
    this.#broker ??= this.#start();
    return this.#broker;
  }

  async #start(): Promise<Broker> {
    const broker = await Broker.start({ security: KAFKA_USER, proxies: PROXIES });
    this.#free = [...broker.proxied];
    return broker;
  }
}
