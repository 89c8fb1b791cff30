import { Agent, type IncomingMessage, request } from 'node:http';

/** Number of connections of a browser to one address. */
const CONNECTIONS = 6;

/** A browser's connections to a viewer. */
export class ViewerClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

  constructor(private readonly url: string) {}

  /** The body of an answer, decoded where it is not compressed. @throws an error for any other status than 200 */
  async ask(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const incoming = await this.#send(path, body, headers);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if (incoming.statusCode === 200) return text;
    throw new Error(`${path}: ${incoming.statusCode} ${text}`);
  }

  /** Follows the stream of the state of recording until the client is closed. */
  async follow(): Promise<void> {
    const incoming = await this.#send('/api/stream', undefined, {});
    incoming.on('error', () => undefined);
    incoming.resume();
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(path: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = body === undefined ? undefined : JSON.stringify(body);
      const options = {
        method: sent === undefined ? 'GET' : 'POST',
        agent: this.#agent,
        headers: { 'content-type': 'application/json', ...headers },
      };
      const outgoing = request(this.url + path, options, resolve);
      outgoing.on('error', reject);
      outgoing.end(sent);
    });
  }
}

/** What a page shows of a dashboard. */
export interface ViewedPage {
  readonly path: string;
  /** Of its requests, without the width of a panel. */
  readonly view: Readonly<Record<string, unknown>>;
  readonly refreshMs: number;
  /** IDs of the panels with queries. */
  readonly panels: readonly number[];
}

/** Opens a dashboard with the default values of its variables. */
export async function openDashboard(
  client: ViewerClient,
  uid: string,
  { from, refreshMs }: { readonly from: string; readonly refreshMs: number },
): Promise<ViewedPage> {
  const path = `/api/dashboards/${uid}`;
  const { panels } = JSON.parse(await client.ask(path)) as { panels: { id: number; type: string }[] };
  const range = { from, to: 'now', refreshMs };
  const resolved = JSON.parse(await client.ask(`${path}/variables`, { ...range, variables: {} })) as {
    name: string;
    hidden: boolean;
    value: readonly string[];
  }[];
  const shown = resolved.filter(({ hidden }) => !hidden).map(({ name, value }) => [name, value]);
  const drawn = panels.filter(({ type }) => type !== 'row' && type !== 'text').map(({ id }) => id);
  return { path, view: { ...range, variables: Object.fromEntries(shown) }, refreshMs, panels: drawn };
}
