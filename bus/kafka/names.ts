/** Names on the bus and in Kafka: there all of ours may begin with a prefix, so that several instances share a cluster. */
export class Names {
  constructor(readonly prefix: string) {}

  inKafka(name: string): string {
    return this.prefix + name;
  }

  onBus(name: string): string {
    return name.slice(this.prefix.length);
  }

  isOurs(name: string): boolean {
    return name.startsWith(this.prefix);
  }
}
