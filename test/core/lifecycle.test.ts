import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Component, Lifecycle, processSignal, Stopped } from '../../core/index.js';

function parts(log: string[], failing?: { start?: string; stop?: readonly string[] }): Component[] {
  return ['a', 'b', 'c'].map((name) => ({
    name,
    start: async () => {
      log.push(`start ${name}`);
      if (failing?.start === name) throw new Error(`${name} cannot start`);
    },
    stop: async () => {
      log.push(`stop ${name}`);
      if (failing?.stop?.includes(name)) throw new Error(`${name} cannot stop`);
    },
  }));
}
const never = new AbortController().signal;

describe('a lifecycle', () => {
  it('starts in order and stops in reverse, once', async () => {
    const log: string[] = [];
    const lifecycle = new Lifecycle(parts(log));
    await lifecycle.start(never);
    await Promise.all([lifecycle.stop(), lifecycle.stop()]);
    expect(log).toEqual(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
  });

  it('stops the started components when a start fails', async () => {
    const log: string[] = [];
    await expect(new Lifecycle(parts(log, { start: 'b' })).start(never)).rejects.toThrow('b cannot start');
    expect(log).toEqual(['start a', 'start b', 'stop b', 'stop a']);
  });

  it('stops the others when one fails to stop, and reports which failed', async () => {
    const log: string[] = [];
    const one = new Lifecycle(parts(log, { stop: ['b'] }));
    await one.start(never);
    await expect(one.stop()).rejects.toThrow('b cannot stop');
    expect(log.slice(3)).toEqual(['stop c', 'stop b', 'stop a']);
    const two = new Lifecycle(parts([], { stop: ['a', 'c'] }));
    await two.start(never);
    await expect(two.stop()).rejects.toThrow('several components did not stop cleanly');
  });

  it('starts no more components once it is stopped', async () => {
    const log: string[] = [];
    const stop = new AbortController();
    const [a, b] = parts(log);
    if (!a || !b) throw new Error('no parts');
    const lifecycle = new Lifecycle([{ ...a, start: async () => stop.abort(new Stopped('SIGINT')) }, b]);
    await expect(lifecycle.start(stop.signal)).rejects.toThrow(Stopped);
    await lifecycle.stop();
    expect(log).toEqual(['stop a']);
  });
});

describe('the signal of a process', () => {
  it('is aborted when the parent closes the pipe', async () => {
    const pipe = new PassThrough();
    const signal = processSignal(pipe);
    expect(signal.aborted).toBe(false);
    const aborted = once(signal, 'abort');
    pipe.end();
    await aborted;
    expect(signal.reason).toBeInstanceOf(Stopped);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('is aborted by %s', async (name) => {
    const core = pathToFileURL(`${import.meta.dirname}/../../dist/core/index.js`).href;
    const program = `
      const { processSignal } = await import('${core}');
      const signal = processSignal();
      const stay = setInterval(() => {}, 1000);
      signal.addEventListener('abort', () => { console.log(signal.reason.message); clearInterval(stay); });
      console.log('ready');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
      if (said === 'ready\n') child.kill(name);
    });
    const [code] = await once(child, 'close');
    expect({ code, said }).toEqual({ code: 0, said: `ready\n${name}\n` });
  });
});
