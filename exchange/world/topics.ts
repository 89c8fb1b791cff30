import type { Random } from '../../core/index.js';

/** The topic of an event. All names are invented. */
export interface Topic {
  readonly title: string;
  /** Slug of a category. */
  readonly category: string;
  readonly tags: readonly string[];
  /** Market names: one for a yes-or-no question; several for candidates: one of them wins. */
  readonly markets: readonly string[];
}

const TOWNS = [
  'Norhaven',
  'Castellan',
  'Port Ellery',
  'Veldmoor',
  'Quintara',
  'Brackwater',
  'Saltmere',
  'Highfold',
  'Lowmarch',
  'Aldersea',
];
const COUNTRIES = ['Ardania', 'Sorvia', 'Meridia', 'Kestrel Islands', 'Valdoria', 'Tamarind Republic', 'Ostmark Union'];
const PARTIES = ['Harbour Party', 'Civic Union', 'Green Meadow', 'Free Traders', 'Common Ground', 'New Compass'];
const CLUBS = [
  'Norhaven Rovers',
  'Castellan City',
  'Ellery Harbour',
  'Veldmoor United',
  'Quintara Athletic',
  'Brackwater Town',
  'Saltmere Wanderers',
  'Highfold Albion',
];
const TEAMS = ['Falcon Racing', 'Team Obsidian', 'Meridian GP', 'Silver Arc', 'Northline Motors', 'Red Kestrel'];
const BOATS = ['Petrel', 'Sea Lantern', 'Long Tide', 'Blue Heron', 'Windward', 'Grey Gull'];
const FIRMS = ['Lumenworks', 'Orbital Loom', 'Deepfield', 'Brightpath', 'Copperleaf', 'Nimbus Forge', 'Kitehawk'];
const MODELS = ['Loom-5', 'Halcyon', 'Deepfield Sage', 'Copper Mind', 'Kite-2'];
const FILMS = ['The Glass Orchard', 'Nine Winters', 'A Map of Salt', 'Paper Moons', 'Lanterns Over Veld', 'Undertow'];
const BANDS = ['The Brass Tides', 'Mira and the Hours', 'Violet Engine', 'Northern Static', 'Paper Lions'];
const SHOWS = ['Harbour Lights', 'The Long Table', 'Second Orbit', 'Cold Ledger'];
const COINS = ['Bitcoin', 'Ether'];

type Make = (random: Random) => Topic;

const questions: readonly Make[] = [
  (r) => {
    const [country, party] = [r.pick(COUNTRIES), r.pick(PARTIES)];
    return one(`Will the ${party} lead the next ${country} poll?`, 'elections', ['polls', country, 'elections']);
  },
  (r) => {
    const country = r.pick(COUNTRIES);
    return one(`Will ${country} pass its budget this week?`, 'legislation', ['budget', country]);
  },
  (r) => {
    const town = r.pick(TOWNS);
    return one(`Will ${town} approve the new tram line?`, 'local-government', ['transport', town]);
  },
  (r) => {
    const [country, rate] = [r.pick(COUNTRIES), r.integer(15, 60) / 10];
    return one(`Will inflation in ${country} be above ${rate} %?`, 'inflation', ['inflation', country, 'macro']);
  },
  (r) => {
    const country = r.pick(COUNTRIES);
    return one(`Will ${country}'s central bank cut its rate?`, 'interest-rates', ['central banks', country, 'macro']);
  },
  (r) => {
    const [country, count] = [r.pick(COUNTRIES), r.integer(2, 30) * 5];
    return one(`Will ${country} add more than ${count} thousand jobs?`, 'employment', ['jobs', country, 'macro']);
  },
  (r) => {
    const [firm, model] = [r.pick(FIRMS), r.pick(MODELS)];
    return one(`Will ${firm} release ${model} before the deadline?`, 'artificial-intelligence', ['ai', firm]);
  },
  (r) => {
    const firm = r.pick(FIRMS);
    return one(`Will the ${firm} rocket reach orbit at its next launch?`, 'space', ['space', 'launches', firm]);
  },
  (r) => {
    const firm = r.pick(FIRMS);
    return one(`Will ${firm} ship its folding tablet on time?`, 'gadgets', ['hardware', firm]);
  },
  (r) => {
    const [home, away] = r.shuffled(CLUBS) as [string, string];
    return one(`Will ${home} beat ${away}?`, 'football', ['football', home, away]);
  },
  (r) => {
    const [club, goals] = [r.pick(CLUBS), r.integer(1, 4)];
    return one(`Will ${club} score more than ${goals} goals?`, 'football', ['football', club]);
  },
  (r) => {
    const [town, wind] = [r.pick(TOWNS), r.integer(12, 24) * 5];
    return one(`Will gusts in ${town} pass ${wind} km/h?`, 'storms', ['weather', 'wind', town]);
  },
  (r) => {
    const [town, heat] = [r.pick(TOWNS), r.integer(18, 39)];
    return one(`Will it be warmer than ${heat} °C in ${town}?`, 'temperature', ['weather', 'heat', town]);
  },
  (r) => {
    const [film, share] = [r.pick(FILMS), r.integer(60, 95)];
    return one(`Will “${film}” hold a score above ${share} %?`, 'film', ['film', 'critics']);
  },
  (r) => {
    const band = r.pick(BANDS);
    return one(`Will ${band} top the chart this week?`, 'music', ['music', 'charts', band]);
  },
  (r) => {
    const show = r.pick(SHOWS);
    return one(`Will “${show}” be renewed?`, 'television', ['television', show]);
  },
  (r) => {
    const [coin, step] = [r.pick(COINS), r.integer(1, 9)];
    return one(`Will ${coin} move more than ${step} % today?`, 'crypto', ['crypto', coin]);
  },
];

const contests: readonly Make[] = [
  (r) => {
    const country = r.pick(COUNTRIES);
    return several(`Which party wins the ${country} vote?`, 'elections', ['elections', country], r, PARTIES);
  },
  (r) => several('Which club wins the Saltmere Cup?', 'football', ['football', 'cup'], r, CLUBS),
  (r) => {
    const town = r.pick(TOWNS);
    return several(`Who wins the ${town} Grand Prix?`, 'motor-racing', ['racing', town], r, TEAMS);
  },
  (r) => {
    const town = r.pick(TOWNS);
    return several(`Which boat wins the ${town} regatta?`, 'sailing', ['sailing', town], r, BOATS);
  },
  (r) => several('Which model tops the open leaderboard?', 'artificial-intelligence', ['ai', 'benchmarks'], r, MODELS),
  (r) => several('Which film wins the Golden Lantern?', 'film', ['film', 'awards'], r, FILMS),
  (r) => several('Who takes Band of the Year?', 'music', ['music', 'awards'], r, BANDS),
  (r) => {
    const country = r.pick(COUNTRIES);
    return several(`Which city hosts the ${country} summit?`, 'politics', ['summit', country], r, TOWNS);
  },
];

/** Three of four events have one market, the others three to six candidates. */
export function inventTopic(random: Random): Topic {
  return random.next() < 0.75 ? random.pick(questions)(random) : random.pick(contests)(random);
}

function one(title: string, category: string, tags: readonly string[]): Topic {
  return { title, category, tags, markets: ['Yes'] };
}

function several(title: string, category: string, tags: readonly string[], random: Random, names: readonly string[]) {
  const count = random.integer(3, Math.min(6, names.length));
  return { title, category, tags, markets: random.shuffled(names).slice(0, count) };
}
