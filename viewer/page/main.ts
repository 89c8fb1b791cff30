import './locale.js';
import './app.css';
import { parseAddress } from '../display/address.js';
import type { Theme } from '../display/colors.js';
import { isOverdue, type RecordingMessage, recordingText } from '../display/recording-text.js';
import { shown } from '../display/safe-text.js';
import { api, isLoggedOut } from './api.js';
import { DashboardPage } from './dashboard-page.js';
import { button, h } from './dom.js';
import { HomePage } from './home-page.js';
import { drawLogin, loginFromAddress } from './login.js';
import type { Shell } from './shell.js';
import { watchRecording } from './watch-recording.js';

const KEYS = {
  '/': 'search events and dashboards',
  r: 'refresh now',
  z: 'zoom out',
  b: 'back to the time range before',
  c: 'choose the time range: from and to',
  l: 'permanent link: the address with absolute times',
  t: 'dark or light',
  Escape: 'leave full screen, close a dialog',
  Tab: 'from control to control; Enter presses it',
  '?': 'this list',
};
const THEME_KEY = 'chancery.theme';
const SILENCE_CHECK_MS = 2000;

class Page implements Shell {
  theme: Theme;
  readonly #title = h('h1');
  readonly #state = h('span', { className: 'state', attributes: { role: 'status' } });
  readonly #problem = h('div', { className: 'bar failure', hidden: true, attributes: { role: 'alert' } });
  readonly #controls = h('div');
  readonly #content = h('div');
  readonly #dialog = h('dialog');
  #page: DashboardPage | HomePage | undefined;
  #opening = new AbortController();
  /** What was said of recording last, and when, Unix milliseconds. */
  #recording: RecordingMessage | undefined;
  #heardAt = Date.now();

  constructor() {
    const stored = localStorage.getItem(THEME_KEY);
    const preferred = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
    this.theme = stored === 'light' || stored === 'dark' ? stored : preferred;
    document.documentElement.dataset['theme'] = this.theme;
    const brand = h('a', { href: '/', className: 'brand' }, 'Chancery');
    brand.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.navigate('/');
    });
    const theme = button('◐', 'Dark or light (t)', () => this.#toggleTheme());
    const top = h(
      'header',
      { className: 'top' },
      h('div', { className: 'bar' }, brand, this.#title, this.#state, theme),
      this.#controls,
      this.#problem,
    );
    document.body.replaceChildren(top, this.#content, this.#dialog);
    // A panel in full screen begins below the header.
    new ResizeObserver(() =>
      document.documentElement.style.setProperty('--top', `${top.getBoundingClientRect().height}px`),
    ).observe(top);
    setInterval(() => this.#checkSilence(), SILENCE_CHECK_MS);
    addEventListener('popstate', () => this.#goTo());
    document.addEventListener('keydown', (event) => {
      const { key, target } = event;
      if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return;
      if (event.ctrlKey || event.metaKey || event.altKey || this.#dialog.open) return;
      if (key === 't') this.#toggleTheme();
      else if (key === '?') this.#showKeys();
      else if (key === '/') {
        event.preventDefault();
        void this.#search();
      }
    });
  }

  /** Shows the address, which the browser went back or forward to, or a link leads to. */
  #goTo(): void {
    const address = parseAddress(location.pathname, location.search);
    if (address && this.#page instanceof DashboardPage && this.#page.uid === address.uid) this.#page.show(address);
    else void this.open();
  }

  navigate(href: string): void {
    history.pushState(null, '', href);
    scrollTo(0, 0);
    this.#goTo();
  }

  /** @param consoleHrefs of each statement, where it can be opened in a console */
  showSql(title: string, statements: readonly string[], consoleHrefs: readonly string[] = []): void {
    const copy = button('Copy', 'Copy SQL', () => void navigator.clipboard.writeText(statements.join(';\n\n')));
    const content = statements.flatMap((sql, number) => [h('pre', {}, sql), ...consoleLink(consoleHrefs[number])]);
    this.showDialog(title, content, [copy]);
  }

  showDialog(title: string, content: readonly HTMLElement[], buttons: readonly HTMLElement[] = []): () => void {
    const close = () => this.#dialog.close();
    this.#dialog.replaceChildren(
      h('h2', {}, title),
      ...content,
      h('div', { className: 'bar' }, ...buttons, button('Close', 'Close', close)),
    );
    this.#dialog.showModal();
    return close;
  }

  #showKeys(): void {
    const rows = Object.entries(KEYS).map(([key, meaning]) =>
      h('tr', {}, h('th', { attributes: { scope: 'row' } }, key), h('td', {}, meaning)),
    );
    this.showDialog('Keys', [h('table', {}, h('tbody', {}, ...rows))]);
  }

  /** Goes to the search of the first page. */
  async #search(): Promise<void> {
    if (!document.getElementById('search')) {
      history.pushState(null, '', '/');
      await this.open();
    }
    document.getElementById('search')?.focus();
  }

  showProblem(text: string | undefined): void {
    this.#problem.textContent = shown(text ?? '');
    this.#hideRepeated();
  }

  /** What the line about recording says is not said twice. */
  #hideRepeated(): void {
    const { textContent } = this.#problem;
    this.#problem.hidden = textContent === '' || textContent === this.#state.textContent;
  }

  async open(): Promise<void> {
    this.#opening.abort();
    this.#opening = new AbortController();
    const { signal } = this.#opening;
    this.#page?.close();
    this.#page = undefined;
    this.showProblem(undefined);
    const address = parseAddress(location.pathname, location.search);
    try {
      if (!address) {
        const home = new HomePage(await api.list(signal), this);
        this.#page = home;
        this.#show('Markets', undefined, home.element);
        home.start();
        return;
      }
      const dashboard = await api.dashboard(address.uid, signal);
      const page = new DashboardPage(dashboard, address, this);
      this.#page = page;
      this.#show(dashboard.title, page.controls, page.element);
      await page.start();
    } catch (error) {
      if (signal.aborted) return;
      if (isLoggedOut(error)) {
        this.logIn();
        return;
      }
      this.#show('Chancery', undefined, h('main', {}));
      this.showProblem(error instanceof Error ? error.message : String(error));
    }
  }

  logIn(): void {
    this.#page?.close();
    this.#page = undefined;
    this.showProblem(undefined);
    const form = drawLogin(() => void this.open());
    this.#show('Chancery', undefined, form);
  }

  showRecording(message: RecordingMessage): void {
    this.#recording = message;
    this.#heardAt = Date.now();
    this.#showRecording();
  }

  /** While no message comes, what the last one said grows older. */
  #checkSilence(): void {
    // Hidden pages ask nothing.
    if (document.hidden) this.#heardAt = Date.now();
    else if (isOverdue(Date.now() - this.#heardAt)) this.#showRecording();
  }

  #showRecording(): void {
    const { text, level } = recordingText(this.#recording, Date.now() - this.#heardAt);
    this.#state.textContent = text;
    this.#state.dataset['level'] = level;
    this.#hideRepeated();
  }

  #show(title: string, controls: HTMLElement | undefined, content: HTMLElement): void {
    document.title = shown(`${title} – Chancery`);
    this.#title.textContent = shown(title);
    this.#controls.replaceChildren(...(controls ? [controls] : []));
    this.#content.replaceChildren(content);
  }

  #toggleTheme(): void {
    this.theme = this.theme === 'dark' ? 'light' : 'dark';
    localStorage.setItem(THEME_KEY, this.theme);
    document.documentElement.dataset['theme'] = this.theme;
    this.#page?.redraw();
  }
}

function consoleLink(href: string | undefined): HTMLElement[] {
  if (href === undefined) return [];
  const title = "ClickHouse's web console; it asks for the password, which `chancery sql --console` prints";
  return [h('p', {}, h('a', { href, title, target: '_blank', rel: 'noopener' }, 'Open in console'))];
}

const page = new Page();
await loginFromAddress();
void page.open();
watchRecording((message) => page.showRecording(message));
