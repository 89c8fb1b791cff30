import { Series } from '../store/index.js';
import { assetOf } from './assets.js';
import type { Changes } from './changes.js';
import type { OpenEventCommand } from './commands.js';
import { Market, MarketEvent } from './entities.js';
import { WIDTH } from './records.js';
import { slugOf } from './slug.js';
import { eventView } from './views.js';

/** Opens events with their markets. */
export class EventOpener {
  constructor(private readonly changes: Changes) {}

  open(command: OpenEventCommand): MarketEvent {
    const { state, outbox } = this.changes;
    const { at, title, category, tags, featured, closesAt } = command;
    const number = state.events.length;
    const eventId = state.ids.id('event', number);
    const slug = `${slugOf(title)}-${number + 1}`;
    const event = new MarketEvent(number, eventId, title, slug, category, tags, featured, at, closesAt);
    for (const { name, chance } of command.markets) {
      const next = state.markets.length + event.markets.length;
      const yes = state.ids.id('asset', assetOf(next, 'YES'));
      const no = state.ids.id('asset', assetOf(next, 'NO'));
      const chances = new Series(state.blocks, WIDTH.chance);
      chances.append([Math.floor(at / 1_000_000), chance]);
      event.markets.push(new Market(next, event, state.ids.id('market', next), yes, no, name, at, chance, chances));
    }
    state.addEvent(event);
    if (outbox.hasListeners('eventOpened')) outbox.push('eventOpened', eventView(event, at));
    return event;
  }
}
