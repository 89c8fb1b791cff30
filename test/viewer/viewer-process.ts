import { createLogger, keepHeapSmall, processSignal, Secret, systemClock } from '../../core/index.js';
import { ViewerServer } from '../../viewer/index.js';
import { connectWith } from './viewer-connection.js';

/** A viewer in a process of its own: its argument is JSON with the dashboards' folder and the reader's login. */
export interface ViewerProcessOptions {
  readonly dashboards: string;
  readonly databases: readonly string[];
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

keepHeapSmall();
const { dashboards, databases, ...login } = JSON.parse(process.argv[2] ?? '') as ViewerProcessOptions;
const viewer = new ViewerServer({
  ...{ host: '127.0.0.1', port: 0, dashboards, databases, clock: systemClock },
  log: createLogger({ service: 'view', level: 'fatal' }),
  connect: connectWith({ ...login, password: new Secret(login.password) }),
});
await viewer.start();
processSignal(process.stdin).addEventListener('abort', () => void viewer.stop().then(() => process.exit(0)));
process.stdout.write(`${JSON.stringify({ url: viewer.url })}\n`);
