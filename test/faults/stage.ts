import { findEmbedded } from '../../warehouse/index.js';
import { Rig, type RigCommand } from '../pipeline/rig.js';
import { until } from '../support/until.js';
import { Evidence } from './evidence.js';
import { type EventStreamName, Market, type TradedEvent } from './market.js';
import { OwnDisk } from './own-disk.js';

/** Settings of the collector that decide how fast faults are detected. */
export interface Pace {
  readonly silenceMs: number;
  readonly auditMs: number;
  /** Events that are traded. */
  readonly events: number;
}

/** Each connection has this many events: a fault of a connection concerns several events and leaves the others alone. */
const EVENTS_PER_CONNECTION = 2;
const STREAMS: readonly EventStreamName[] = ['order-book', 'chance'];

interface ListedFaults {
  readonly armed: readonly { readonly id: number }[];
  readonly used: readonly { readonly id: number; readonly at: number }[];
}

/** One instance of everything, with a market of its own. */
export class FaultStage {
  readonly market: Market;
  readonly evidence: Evidence;

  private constructor(
    readonly rig: Rig,
    readonly disk: OwnDisk | undefined,
    readonly pace: Pace,
    private readonly seed: number,
  ) {
    this.market = new Market(rig, seed);
    this.evidence = new Evidence(rig);
  }

  static async start(pace: Pace, seed: number): Promise<FaultStage> {
    const disk = OwnDisk.mount();
    const stage = new FaultStage(new Rig(disk ? { folder: disk.folder } : {}), disk, pace, seed);
    try {
      await stage.#start();
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  async close(): Promise<void> {
    await this.market.stop();
    await this.evidence.stop();
    await this.rig.close();
    this.disk?.unmount();
  }

  /** Arms a fault, and waits until it applies; its time, Unix microseconds. Bots, and so the market, are left alone. */
  async fault(fault: object): Promise<number> {
    return await this.applied(await this.arm(fault));
  }

  /** Waits until an armed fault applies; its time, Unix microseconds. */
  async applied(id: number): Promise<number> {
    let at: number | undefined;
    await until(async () => {
      at = await this.appliedAt(id);
      return at !== undefined || `fault ${id} has not yet applied`;
    });
    return at ?? 0;
  }

  /** Ends a fault that applies more often than is needed, so that the next one does not apply to the same answers. */
  async disarm(id: number): Promise<void> {
    await until(async () => {
      const { armed } = JSON.parse(await this.rig.control('/faults')) as ListedFaults;
      // Refused when it applied for the last time meanwhile.
      return !armed.some((each) => each.id === id) || (await this.rig.undo(`/faults/${id}`).catch(String));
    });
  }

  /** Arms a fault; its ID. */
  async arm(fault: object): Promise<number> {
    return (JSON.parse(await this.rig.order('/faults', { target: 'not-bots', ...fault })) as { id: number }).id;
  }

  /** When an armed fault applied, Unix microseconds; undefined while it has not. */
  async appliedAt(id: number): Promise<number | undefined> {
    const { used } = JSON.parse(await this.rig.control('/faults')) as ListedFaults;
    return used.find((each) => each.id === id)?.at;
  }

  /** The connection on which the event is subscribed. */
  connectionOf(stream: EventStreamName, { eventId }: TradedEvent): Promise<string> {
    return this.rig.value(`
      SELECT argMax(connection_id, recorded_at) FROM collector_events
      WHERE type = 'subscribed' AND stream = '${stream}' AND event = '${eventId}'`);
  }

  /** The events of each connection. */
  async connections(stream: EventStreamName): Promise<TradedEvent[][]> {
    const rows = await this.rig.rows<{ events: string[] }>(`
      SELECT groupArray(event) AS events FROM
      (SELECT event, argMax(connection_id, recorded_at) AS connection FROM collector_events
        WHERE type = 'subscribed' AND stream = '${stream}' GROUP BY event)
      GROUP BY connection ORDER BY connection`);
    const byId = new Map(this.market.events.map((event) => [event.eventId, event]));
    return rows.map(({ events }) => events.flatMap((id) => byId.get(id) ?? []).sort(byEventId));
  }

  startPart(command: RigCommand): Promise<unknown> {
    return this.rig.start(command, command === 'collect' ? this.#collectArgs : []);
  }

  /** The exchange, on the port of the former one, which was killed. */
  async restartExchange(): Promise<void> {
    const { port } = new URL(this.rig.exchange.url);
    await this.#startExchange(Number(port));
    await this.market.connect();
  }

  async clickHousePid(): Promise<number | undefined> {
    return (await findEmbedded(this.rig.folder).catch(() => undefined))?.pid;
  }

  async #start(): Promise<void> {
    await this.#startExchange(0);
    await this.market.connect();
    for (let n = 0; n < this.pace.events; n++) await this.market.open(`Event ${n}`);
    for (const command of ['warehouse', 'transform', 'collect'] as const) await this.startPart(command);
    await until(async () => {
      const all = (await Promise.all(STREAMS.map((stream) => this.connections(stream).catch(() => [])))).flat(2).length;
      return all === STREAMS.length * this.pace.events || `${all} subscriptions`;
    });
  }

  #startExchange(port: number): Promise<void> {
    return this.rig.startExchange({ seed: this.seed, events: 0, bots: 0, pace: 0, accounts: 2, port });
  }

  get #collectArgs(): string[] {
    const settings = {
      'silence-ms': this.pace.silenceMs,
      'audit-ms': this.pace.auditMs,
      'subscriptions-per-connection': EVENTS_PER_CONNECTION,
    };
    return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  }
}

const byEventId = (a: TradedEvent, b: TradedEvent): number => (a.eventId < b.eventId ? -1 : 1);
