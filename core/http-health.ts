import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Component } from './lifecycle.js';
import { listenError } from './listen-error.js';

export interface Health {
  ok: boolean;
  /** Details that /healthz shows as JSON. */
  detail?: Record<string, unknown>;
}

/** Serves `/healthz` (200 or 503, JSON) and `/metrics` (Prometheus text), on loopback by default. Port 0 picks a free one. */
export class HealthServer implements Component {
  readonly name = 'health';
  #server = createServer((request, response) => void this.#answer(request.url ?? '/', response));
  #port = 0;

  constructor(
    private readonly options: { host?: string; port: number },
    private readonly registry: Registry,
    private readonly health: () => Health,
  ) {}

  /** `http://host:port` for clients on this machine, once started. */
  get url(): string {
    const { host = '127.0.0.1' } = this.options;
    const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
    return `http://${near.includes(':') ? `[${near}]` : near}:${this.#port}`;
  }

  async start(): Promise<void> {
    const { host = '127.0.0.1', port } = this.options;
    await new Promise<void>((resolve, reject) => {
      const address = { host, port, hostFlag: '--metrics-host', portFlag: '--metrics-port' };
      this.#server.once('error', (error) => reject(listenError(error, address)));
      this.#server.listen(port, host, () => resolve());
    });
    this.#port = (this.#server.address() as AddressInfo).port;
    this.#server.unref();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(url: string, response: import('node:http').ServerResponse): Promise<void> {
    if (url === '/healthz') {
      const health = this.health();
      response.writeHead(health.ok ? 200 : 503, { 'content-type': 'application/json' });
      response.end(`${JSON.stringify({ ok: health.ok, ...health.detail })}\n`);
    } else if (url === '/metrics') {
      response.writeHead(200, { 'content-type': this.registry.contentType });
      response.end(await this.registry.metrics());
    } else {
      response.writeHead(404).end('try /healthz or /metrics\n');
    }
  }
}
