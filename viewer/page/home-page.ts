import type { DashboardList } from './api.js';
import { h } from './dom.js';

/** All dashboards, and the files that could not be read. */
export function drawHome({ dashboards, problems }: DashboardList, navigate: (href: string) => void): HTMLElement {
  const cards = dashboards.map(({ uid, title, description, panels }) => {
    const href = `/d/${uid}`;
    const card = h('a', { href, className: 'card' }, h('h2', {}, title), h('p', {}, description || `${panels} panels`));
    card.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      navigate(href);
    });
    return card;
  });
  const failed = problems.map(({ file, reason }) =>
    h('div', { className: 'card' }, h('h2', {}, file), h('p', {}, `It is not shown: ${reason}`)),
  );
  const search = h('input', {
    id: 'search',
    type: 'search',
    placeholder: 'Search dashboards',
    attributes: { 'aria-label': 'Search dashboards' },
  });
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const card of cards) card.hidden = !words.every((word) => card.textContent.toLowerCase().includes(word));
  });
  return h('main', {}, h('div', { className: 'bar' }, search), h('div', { className: 'home' }, ...cards, ...failed));
}
