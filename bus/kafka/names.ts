/** Maps names on the bus to names in Kafka, which have a prefix, so that several instances can share a cluster. */
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
