import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PanelData } from '../../viewer/dashboard-queries.js';

/** For the page before its scripts: Chromium draws nothing of a path of two million points, so a line is several paths. */
export const LONG_PATHS = `(() => {
  const Path = window.Path2D;
  window.Path2D = class extends Path {
    parts = [];
    #added = 0;
    lineTo(x, y) {
      if (this.#added++ % 500_000 === 499_999) {
        this.#last().lineTo(x, y);
        this.parts.push(new Path());
        this.parts.at(-1).moveTo(x, y);
      } else if (this.parts.length === 0) super.lineTo(x, y);
      else this.#last().lineTo(x, y);
    }
    #last() {
      return this.parts.at(-1) ?? { lineTo: (x, y) => super.lineTo(x, y) };
    }
  };
  const { stroke } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.stroke = function (path) {
    if (path === undefined) return stroke.call(this);
    for (const part of [path, ...(path.parts ?? [])]) stroke.call(this, part);
  };
})()`;

/** The viewer at another address, with all points in place of those that it draws. */
export class UndecimatedViewer {
  readonly #server: Server;

  /** @param columns JSON: the times of all points, and their values */
  constructor(
    private readonly viewer: string,
    private readonly columns: string,
  ) {
    this.#server = createServer((asked, answer) => void this.#pass(asked, answer));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { host } = new URL(this.viewer);
    const { origin: _, 'accept-encoding': __, ...headers } = asked.headers;
    const passed = request(this.viewer + (asked.url ?? ''), { method: asked.method, headers: { ...headers, host } });
    passed.on('error', () => answer.destroy());
    passed.on('response', async (received: IncomingMessage) => {
      if (!asked.url?.endsWith('/data')) {
        answer.writeHead(received.statusCode ?? 500, received.headers);
        received.pipe(answer);
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of received) chunks.push(chunk as Buffer);
      const data = JSON.parse(Buffer.concat(chunks).toString()) as PanelData;
      const [times, values] = JSON.parse(this.columns) as [number[], number[]];
      const [frame] = data.frames;
      const fields = frame?.fields.map((field) => ({ ...field, values: field.kind === 'time' ? times : values }));
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ ...data, frames: [{ ...frame, fields }] }));
    });
    asked.pipe(passed);
  }
}
