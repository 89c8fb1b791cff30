import type { RecordingMessage } from '../display/recording-text.js';
import { RecordingStream } from './recording-stream.js';

/** Follows the state of recording while the page is visible, over one stream for all pages of the browser. */
export function watchRecording(onMessage: (message: RecordingMessage) => void): void {
  const follow = typeof SharedWorker === 'undefined' ? followAlone(onMessage) : followShared(onMessage);
  document.addEventListener('visibilitychange', () => follow(!document.hidden));
  addEventListener('pagehide', () => follow(false));
  addEventListener('pageshow', () => follow(!document.hidden));
  follow(!document.hidden);
}

type Follow = (isVisible: boolean) => void;

function followShared(onMessage: (message: RecordingMessage) => void): Follow {
  const { port } = new SharedWorker('/stream-worker.js', { type: 'module', name: 'chancery' });
  port.addEventListener('message', ({ data }) => onMessage(data as RecordingMessage));
  port.start();
  return (isVisible) => port.postMessage(isVisible ? 'visible' : 'hidden');
}

/** Browsers of some phones have no shared workers. */
function followAlone(onMessage: (message: RecordingMessage) => void): Follow {
  const stream = new RecordingStream(onMessage);
  return (isVisible) => (isVisible ? stream.open() : stream.close());
}
