import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Health, HealthServer, packageVersion, processSignal, systemClock } from '../../core/index.js';
import { formatSeconds } from '../format.js';
import { openDataFolder } from '../service/data-folder.js';
import { instancePaths } from '../service/instance.js';
import { ignoreOutputErrors } from '../service/output.js';
import { announce } from '../service/registry.js';
import { runUntilStopped } from '../service/run-service.js';
import { type InstanceOptions, InstanceRun } from './instance-run.js';
import { type Figures, Monitor } from './monitor.js';
import { Screen } from './screen.js';
import { COLOURS, PLAIN, progressLine, type StatusViewState, statusView } from './status-view.js';

const STARTING_MS = 200;
const REDRAW_MS = 1000;
/** Intervals between progress lines if the output is not a terminal; the last one repeats. */
const LINE_MS = [1000, 2000, 5000, 10_000] as const;
/** If the output is not a terminal, the status view is printed once: after the first rows, or after this time. */
const FIRST_ROWS_MS = 3000;
const POLL_MS = 200;
const QUESTION = 'SELECT title, name, last FROM latest_prices LIMIT 5';

export type UpOptions = Omit<InstanceOptions, 'onMessage'>;

/** Runs a whole instance until Ctrl-C, and shows its services and what has been recorded. */
export async function runUp(options: UpOptions): Promise<void> {
  const { settings } = options;
  const startedAt = performance.now();
  const signal = processSignal();
  const screen = new Screen(process.stdout);
  ignoreOutputErrors((line) => process.stderr.write(`chancery: ${line}\n`));
  const isNew = openDataFolder(settings.data);
  const entry = announce(settings.data, 'up', {}, { alone: true });
  const instance = new InstanceRun({ ...options, onMessage: (text) => screen.print(`${clockTime()} ${text}`) });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const health = new HealthServer({ host: settings.metricsHost, port: settings.metricsPort }, metrics, () =>
    healthOf(instance),
  );
  let monitor: Monitor | undefined;
  const run = async () => {
    await health.start();
    entry.update({ health: health.url });
    screen.print(
      `Chancery ${packageVersion()} starts on ${instancePaths(settings.data).folder}${isNew ? ', a new data folder' : ''} …`,
    );
    await start(screen, instance, signal);
    monitor = new Monitor(instance.settings);
    measure(metrics, instance);
    const took = formatSeconds((performance.now() - startedAt) / 1000);
    screen.print(`ready in ${took}; open ${instance.viewerUrl}`);
    await show(screen, instance, monitor, signal);
  };
  try {
    await runUntilStopped(run);
  } finally {
    await Promise.all([monitor?.close(), monitor ? stop(screen, instance) : instance.stop()]);
    screen.end();
    await health.stop();
    entry.end();
  }
}

/** Starts the services; on a terminal it shows their states meanwhile. */
async function start(screen: Screen, instance: InstanceRun, signal: AbortSignal): Promise<void> {
  const draw = () => screen.show(instance.lines.map(({ name, state }) => `  ${name.padEnd(12)}${state}`));
  const drawing = screen.redraws ? setInterval(draw, STARTING_MS) : undefined;
  try {
    await instance.start(signal);
  } finally {
    clearInterval(drawing);
    screen.show([]);
  }
}

/** Healthy when every service is ready; the detail has the others. */
function healthOf({ services }: InstanceRun): Health {
  const down = services
    .filter((service) => service.state !== 'ready')
    .map(({ name, state, failure }) => `${name} is ${state}${failure === undefined ? '' : `: ${failure}`}`);
  const detail = Object.fromEntries(services.map((service) => [service.name, service.state]));
  if (services.length === 0) return { ok: false, detail: { cause: 'starting' } };
  return { ok: down.length === 0, detail: down.length === 0 ? detail : { ...detail, cause: down.join(', ') } };
}

/** Shows the status view until the signal is aborted, then rejects with its reason. */
async function show(screen: Screen, instance: InstanceRun, monitor: Monitor, signal: AbortSignal): Promise<never> {
  const read = async () => viewState(instance, await monitor.read(signal), monitor, screen.redraws);
  const paint = screen.redraws && process.stdout.hasColors() ? COLOURS : PLAIN;
  while (screen.redraws) {
    screen.show(statusView(await read(), paint));
    await systemClock.sleep(REDRAW_MS, signal);
  }
  const firstRowsBy = performance.now() + FIRST_ROWS_MS;
  let state = await read();
  while (state.tables.length === 0 && performance.now() < firstRowsBy) {
    await systemClock.sleep(POLL_MS, signal);
    state = await read();
  }
  screen.show(statusView(state, paint));
  for (let round = 0; ; round++) {
    await systemClock.sleep(LINE_MS[Math.min(round, LINE_MS.length - 1)] ?? 0, signal);
    screen.print(`${clockTime()} ${progressLine(await read())}`);
  }
}

async function stop(screen: Screen, instance: InstanceRun): Promise<void> {
  const startedAt = performance.now();
  screen.show([]);
  screen.print(`${clockTime()} stopping …`);
  // A second Ctrl-C exits at once: the services shut down cleanly by themselves when their parent has ended.
  const leave = () => process.exit(1);
  process.once('SIGINT', leave);
  await instance.stop();
  process.removeListener('SIGINT', leave);
  const took = formatSeconds((performance.now() - startedAt) / 1000);
  screen.print(`${clockTime()} stopped in ${took}; the next start on this data folder resumes`);
}

function viewState(
  instance: InstanceRun,
  figures: Figures,
  { warehouse }: Monitor,
  privately: boolean,
): StatusViewState {
  const { data } = instance.settings;
  const { folder: usual } = instancePaths('./data');
  const named = data === usual ? '' : ` --data ${data}`;
  return {
    version: packageVersion(),
    dataFolder: data,
    services: instance.lines,
    ...figures,
    viewerUrl: instance.viewerUrl,
    consoleUrl: consoleLine(warehouse, privately),
    question: `npx chancery sql${named} "${QUESTION}"`,
  };
}

/** With the password on a terminal, without it in output that may be stored in a file. */
function consoleLine(warehouse: Monitor['warehouse'], privately: boolean): string {
  if (!warehouse) return 'ClickHouse is not running yet';
  return privately ? warehouse.consoleUrl : `${warehouse.url}/play  (chancery sql --console shows the password)`;
}

function measure(registry: Registry, instance: InstanceRun): void {
  const up = new Gauge({
    name: 'chancery_service_up',
    help: '1 while a service is running and ready',
    labelNames: ['service'],
    registers: [registry],
    collect: () => {
      for (const service of instance.services) up.set({ service: service.name }, service.state === 'ready' ? 1 : 0);
    },
  });
  const restarts = new Counter({
    name: 'chancery_service_restarts_total',
    help: 'restarts of a service since the start of `chancery up`',
    labelNames: ['service'],
    registers: [registry],
    collect: () => {
      restarts.reset();
      for (const service of instance.services) restarts.inc({ service: service.name }, service.restarts);
    },
  });
}

function clockTime(): string {
  return new Date().toISOString().slice(11, 19);
}
