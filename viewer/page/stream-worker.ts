import type { RecordingMessage } from '../display/recording-text.js';
import { RecordingStream } from './recording-stream.js';

/** One stream for all pages of a browser, which allows six connections per host; none while all pages are hidden. */
const visible = new Set<MessagePort>();
let last: RecordingMessage | undefined;
const stream = new RecordingStream((message) => {
  last = message;
  for (const port of visible) port.postMessage(message);
});

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (!port) return;
  port.addEventListener('message', ({ data }) => {
    if (data === 'visible') {
      visible.add(port);
      if (last) port.postMessage(last);
      stream.open();
      return;
    }
    visible.delete(port);
    if (visible.size > 0) return;
    stream.close();
    last = undefined;
  });
  port.start();
});
