import { api } from './api.js';
import { h } from './dom.js';

/** Logs in with the token in the fragment of the address, which is removed from it. */
export async function loginFromAddress(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return;
  history.replaceState(null, '', `${location.pathname}${location.search}`);
  await api.login(token, new AbortController().signal).catch(() => undefined);
}

/** Asks for the token. */
export function drawLogin(onDone: () => void): HTMLElement {
  const input = h('input', { type: 'password', autocomplete: 'off', required: true });
  const failure = h('p', { className: 'failure', attributes: { role: 'alert' } });
  const form = h(
    'form',
    { className: 'card' },
    h('p', {}, 'The token is in the file viewer-token of the data folder.'),
    h('label', { className: 'control' }, h('span', {}, 'Token'), input),
    h('button', { type: 'submit' }, 'Open'),
    failure,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    api.login(input.value.trim(), new AbortController().signal).then(onDone, (error: unknown) => {
      failure.textContent = error instanceof Error ? error.message : String(error);
    });
  });
  return h('main', { className: 'login' }, form);
}
