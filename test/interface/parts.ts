/** A part of the interface: its number, title, and what its statements share. */
export interface Part {
  readonly id: string;
  readonly title: string;
  readonly about?: string;
}

/** Every part that code and documents may name, in the order of the page. */
export const PARTS: readonly Part[] = [
  {
    id: '1',
    title: 'The exchange',
    about:
      'A prediction market: people trade shares in the outcomes of events. Users place limit and market orders, attach take-profit and stop-loss (TP/SL) orders to positions, and read their account; everybody may read coins, events, categories, tags, prices and the history of probabilities.',
  },
  { id: '2', title: 'Records and their fields', about: 'JSON names are short; each table says what they mean.' },
  {
    id: '3',
    title: 'States',
    about: 'Transitions between states are not documented. What is known of the behaviour:',
  },
  {
    id: '4',
    title: 'REST operations',
    about:
      'Each operation is public, needs an API key ([part 5.1](#part-5.1)) or needs a JWT ([part 5.3](#part-5.3)). Where two status codes are named, either may be returned.',
  },
  { id: '4.1', title: 'Account and API key', about: 'Auth host, JWT.' },
  { id: '4.2', title: 'Orders', about: 'Order host, API key.' },
  { id: '4.3', title: 'Balances and wallet', about: 'Wallet host.' },
  { id: '4.4', title: 'History and positions', about: 'History host, API key.' },
  { id: '4.5', title: 'Public market data', about: 'Event host unless another is named.' },
  { id: '5', title: 'Authentication' },
  { id: '5.1', title: 'API key: signed requests' },
  { id: '5.2', title: 'What an API key may do' },
  { id: '5.3', title: 'JWT' },
  { id: '5.4', title: 'Lifecycle of an API key' },
  { id: '5.5', title: 'Authentication of streams' },
  { id: '5.6', title: 'Public REST' },
  { id: '6', title: 'Streams (WebSocket)' },
  {
    id: '6.1',
    title: 'Order book stream',
    about: '`/event/ws`, public. Messages have `t`, `e` (event ID), `d` (array of price entries) and `r`.',
  },
  {
    id: '6.2',
    title: 'Chance stream',
    about:
      '`/ws`, public. Messages have `t`, `e` (event ID), `o` (array of market IDs), `d` and `r`. Chance is the probability of YES.',
  },
  { id: '6.3', title: 'Order updates stream', about: '`/order/ws`, API key.' },
  { id: '6.4', title: 'Balance updates stream', about: '`/balance/ws`, API key.' },
  { id: '6.5', title: 'Other feeds' },
  { id: '6.6', title: 'Which stream reports what' },
  { id: '7', title: 'Errors' },
  { id: '7.1', title: 'Body of a public REST error' },
  {
    id: '7.2',
    title: 'HTTP status codes',
    about: 'Of the status codes, the documentation of public operations has 200, 400, 404 and 500 only.',
  },
  { id: '7.3', title: 'Errors of streams' },
  { id: '7.4', title: 'Undocumented errors' },
  { id: '8', title: 'Limits' },
  { id: '9', title: 'Versions' },
];
