import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Health, HealthServer, packageVersion, processSignal, systemClock } from '../../core/index.js';
import { formatSeconds } from '../format.js';
import { openDataFolder } from '../parts/data-folder.js';
import { instancePaths } from '../parts/instance.js';
import { goOnWithoutOutput } from '../parts/output.js';
import { announce } from '../parts/registry.js';
import { endingInOrder } from '../parts/run-part.js';
import { type BoardState, board, COLOURS, PLAIN, progressLine } from './board.js';
import { type InstanceOptions, InstanceRun } from './instance-run.js';
import { Screen } from './screen.js';
import { type Figures, Watch } from './watch.js';

const STARTING_MS = 200;
const REDRAW_MS = 1000;
/** Pauses between lines where nothing can be redrawn: a first impression soon, then a sign of life. The last repeats. */
const LINE_MS = [1000, 2000, 5000, 10_000] as const;
/** How long the board waits for first rows where it is printed once. */
const FIRST_ROWS_MS = 3000;
const LOOK_AGAIN_MS = 200;
const QUESTION = 'SELECT title, name, last FROM latest_prices LIMIT 5';

export type UpOptions = Omit<InstanceOptions, 'onNews'>;

/** Runs a whole instance until Ctrl-C, with a screen that says what runs where and what was recorded. */
export async function runUp(options: UpOptions): Promise<void> {
  const { settings } = options;
  const startedAt = performance.now();
  const signal = processSignal();
  const screen = new Screen(process.stdout);
  goOnWithoutOutput((line) => process.stderr.write(`chancery: ${line}\n`));
  const isNew = openDataFolder(settings.data);
  const place = announce(settings.data, 'up', {}, { alone: true });
  const instance = new InstanceRun({ ...options, onNews: (text) => screen.news(`${clockTime()} ${text}`) });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const health = new HealthServer({ host: settings.metricsHost, port: settings.metricsPort }, metrics, () =>
    healthOf(instance),
  );
  let watch: Watch | undefined;
  const run = async () => {
    await health.start();
    place.update({ health: health.url });
    screen.news(
      `Chancery ${packageVersion()} starts on ${instancePaths(settings.data).folder}${isNew ? ', a new data folder' : ''} …`,
    );
    await start(screen, instance, signal);
    watch = new Watch(instance.settings);
    measure(metrics, instance);
    screen.news(`ready in ${formatSeconds((performance.now() - startedAt) / 1000)}`);
    await show(screen, instance, watch, signal);
  };
  try {
    await endingInOrder(run);
  } finally {
    await Promise.all([watch?.close(), watch ? stop(screen, instance) : instance.stop()]);
    screen.end();
    await health.stop();
    place.end();
  }
}

/** Starts the parts; a terminal shows meanwhile how far each is. */
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

/** Ready when every part is; until then it says which are not. */
function healthOf({ parts }: InstanceRun): Health {
  const down = parts.filter((part) => part.state !== 'ready').map((part) => `${part.name} is ${part.state}`);
  const detail = Object.fromEntries(parts.map((part) => [part.name, part.state]));
  if (parts.length === 0) return { ok: false, detail: { cause: 'starting' } };
  return { ok: down.length === 0, detail: down.length === 0 ? detail : { ...detail, cause: down.join(', ') } };
}

/** Draws what is going on until the signal is aborted, then rejects with its reason. */
async function show(screen: Screen, instance: InstanceRun, watch: Watch, signal: AbortSignal): Promise<never> {
  const look = async () => boardState(instance, await watch.look(signal), watch, screen.redraws);
  const paint = screen.redraws && process.stdout.hasColors() ? COLOURS : PLAIN;
  while (screen.redraws) {
    screen.show(board(await look(), paint));
    await systemClock.sleep(REDRAW_MS, signal);
  }
  const firstRowsBy = performance.now() + FIRST_ROWS_MS;
  let state = await look();
  while (state.tables.length === 0 && performance.now() < firstRowsBy) {
    await systemClock.sleep(LOOK_AGAIN_MS, signal);
    state = await look();
  }
  screen.show(board(state, paint));
  for (let round = 0; ; round++) {
    await systemClock.sleep(LINE_MS[Math.min(round, LINE_MS.length - 1)] ?? 0, signal);
    screen.news(`${clockTime()} ${progressLine(await look())}`);
  }
}

async function stop(screen: Screen, instance: InstanceRun): Promise<void> {
  const startedAt = performance.now();
  screen.show([]);
  screen.news(`${clockTime()} stopping; what was received is kept …`);
  // Whoever asks twice wants out now: the parts end by themselves when their parent is gone, and lose nothing.
  const leave = () => process.exit(1);
  process.once('SIGINT', leave);
  await instance.stop();
  process.removeListener('SIGINT', leave);
  const took = formatSeconds((performance.now() - startedAt) / 1000);
  screen.news(`${clockTime()} stopped in ${took}; starting again on the same folder goes on from here`);
}

function boardState(instance: InstanceRun, figures: Figures, { warehouse }: Watch, privately: boolean): BoardState {
  const { data } = instance.settings;
  const { folder: usual } = instancePaths('./data');
  const named = data === usual ? '' : ` --data ${data}`;
  return {
    version: packageVersion(),
    dataFolder: data,
    parts: instance.lines,
    ...figures,
    consoleUrl: consoleLine(warehouse, privately),
    question: `npx chancery sql${named} "${QUESTION}"`,
  };
}

/** With the password on a screen, without it in what may end up in a file. */
function consoleLine(warehouse: Watch['warehouse'], privately: boolean): string {
  if (!warehouse) return 'ClickHouse is not there yet';
  return privately ? warehouse.consoleUrl : `${warehouse.url}/play  (chancery sql --console tells the password)`;
}

function measure(registry: Registry, instance: InstanceRun): void {
  const up = new Gauge({
    name: 'chancery_part_up',
    help: '1 while a part runs and is ready',
    labelNames: ['part'],
    registers: [registry],
    collect: () => {
      for (const part of instance.parts) up.set({ part: part.name }, part.state === 'ready' ? 1 : 0);
    },
  });
  const restarts = new Gauge({
    name: 'chancery_part_restarts',
    help: 'how often a part was started again since `chancery up` runs',
    labelNames: ['part'],
    registers: [registry],
    collect: () => {
      for (const part of instance.parts) restarts.set({ part: part.name }, part.restarts);
    },
  });
}

function clockTime(): string {
  return new Date().toISOString().slice(11, 19);
}
