import { loadAccounts, type SettingName, type Settings, UnavailableError } from '../../core/index.js';
import { instancePaths } from '../service/instance.js';
import type { InstanceRun } from '../up/instance-run.js';
import type { PolledAccount } from './completeness.js';

/** The exchange that is certified: one that the run starts, or a running one with the control interface. */
export type CertifiedExchange =
  | { readonly kind: 'own'; readonly flags: readonly string[] }
  | { readonly kind: 'running'; readonly url: string; readonly controlToken: string; readonly accountsFile?: string };

/** The settings that a run of an instance has because of it, and which of them count as given. */
export function settingsFor(exchange: CertifiedExchange): { values: object; given: ReadonlySet<SettingName> } {
  if (exchange.kind === 'own') return { values: {}, given: new Set() };
  const { url, accountsFile } = exchange;
  return {
    values: { exchangeUrl: url, ...(accountsFile === undefined ? {} : { accountsFile }) },
    given: new Set<SettingName>(['exchangeUrl']),
  };
}

/** Where its control interface is; that of a started exchange changes when it is started again. */
export function controlOf(exchange: CertifiedExchange, instance: InstanceRun): { url: string; token: string } {
  if (exchange.kind === 'running') return { url: exchange.url, token: exchange.controlToken };
  const service = instance.services.find(({ name }) => name === 'exchange');
  if (!service) throw new UnavailableError('the exchange is not running');
  const { url, control } = service.ready as { url: string; control: { token: string } };
  return { url, token: control.token };
}

/** The accounts that are recorded. */
export function accountsOf(exchange: CertifiedExchange, settings: Settings): PolledAccount[] {
  const accountsFile = exchange.kind === 'own' ? instancePaths(settings.data).exchangeAccounts : settings.accountsFile;
  return loadAccounts({ accountsFile }).map(({ name, token, login }) => ({
    name,
    readsTransactions: (token ?? login) !== undefined,
  }));
}
