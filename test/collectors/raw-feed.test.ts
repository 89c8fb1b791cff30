import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { TOPICS } from '../../core/index.js';
import { until } from '../support/until.js';
import { exchangeWith, startCollector } from './rig.js';

async function feedServer(): Promise<{ url: string; sockets: WebSocket[] }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const sockets: WebSocket[] = [];
  server.on('connection', (socket) => void sockets.push(socket));
  onTestFinished(() => {
    for (const socket of sockets) socket.terminate();
    server.close();
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/feed/ws?listen=hush`, sockets };
}

describe('a feed that is configured by address', () => {
  it('is recorded verbatim, text, binary or malformed, with collector events of its connections [6.5/other-feeds]', async () => {
    const { server } = await exchangeWith(0);
    const { url, sockets } = await feedServer();
    const rig = await startCollector(server.url, { settings: { rawFeeds: `last-trades=${url}` } });
    await until(() => sockets.length === 1);
    sockets[0]?.send('{"t":"TRADE","p": 0.50}');
    sockets[0]?.send('no JSON');
    sockets[0]?.send(Buffer.from([0xff, 0xfe]));
    const frames = async () =>
      (await rig.records(TOPICS.reference)).filter(({ kind }) => kind === 'reference.feed-frame');
    await until(async () => (await frames()).length === 3);
    expect((await frames()).map(({ body, encoding: enc }) => [body, enc])).toEqual([
      [{ t: 'TRADE', p: 0.5 }, undefined],
      ['no JSON', 'text'],
      [Buffer.from([0xff, 0xfe]).toString('base64'), 'base64'],
    ]);
    sockets[0]?.terminate();
    await until(() => sockets.length === 2);
    sockets[1]?.send('{"again":true}');
    await until(async () => (await frames()).length === 4);
    const ofFeed = <M extends { stream: string }>(found: readonly M[]) =>
      found.filter(({ stream }) => stream === 'feed');
    const connected = ofFeed(await rig.events('connected'));
    expect(connected.map((one) => one.url)).toEqual(Array(2).fill(url.replace('?listen=hush', '')));
    expect(ofFeed(await rig.events('disconnected')).map(({ connectionId }) => connectionId)).toEqual([
      connected[0]?.connectionId,
    ]);
    expect(ofFeed(await rig.events('subscribed')).map(({ event }) => event)).toEqual(['last-trades', 'last-trades']);
    expect((await frames()).map(({ request: req }) => req)).toEqual(
      [0, 0, 0, 1].map((n) => ({ stream: 'feed', connection: connected[n]?.connectionId, feed: 'last-trades' })),
    );
  });

  it('must be encrypted, except on loopback, and logs in one line why it cannot be connected', async () => {
    const { server } = await exchangeWith(0);
    const start = (rawFeeds: string) => startCollector(server.url, { settings: { rawFeeds } });
    await expect(start('a=ws://feeds.example/ws')).rejects.toThrow('is not encrypted; use wss://feeds.example');
    await expect(start('a=https://feeds.example/ws')).rejects.toThrow('is not an address');
    await expect(start('a=wss://me:pw@feeds.example/ws')).rejects.toThrow('contains a user or password');
    await expect(start('nameless')).rejects.toThrow('it must be NAME=WSURL,NAME=WSURL');
    const rig = await start('quiet=ws://127.0.0.1:9/ws?token=hush');
    await until(() => rig.lines.some(({ msg }) => msg.startsWith('feed quiet cannot be connected: ')));
    expect(rig.lines.map(({ msg }) => msg).join()).not.toContain('hush');
  });
});
