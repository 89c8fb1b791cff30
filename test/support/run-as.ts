import type { EmbeddedEndpoint } from '../../warehouse/index.js';

/** Runs one statement as the given user; throws with the server's message when it fails. */
export async function runAs(login: EmbeddedEndpoint['owner'], sql: string): Promise<string> {
  const response = await fetch(login.url, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': login.user, 'X-ClickHouse-Key': login.password.reveal(), connection: 'close' },
    body: sql,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim());
  return text;
}
