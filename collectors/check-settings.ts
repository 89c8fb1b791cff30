import { checkAddresses, checkPeriod } from '../client/index.js';
import { type CollectSettings, type ExchangeAddresses, flagOf } from '../core/index.js';
import { checkSchedules } from './schedules.js';

/**
 * Checks what a collector needs to start, before anything is created.
 * @throws AddressError, UsageError for a setting that cannot be used
 */
export function checkCollectorSettings(settings: CollectSettings, addresses: ExchangeAddresses): void {
  checkSchedules(settings);
  checkPeriod(settings.historyPeriod, flagOf('historyPeriod'));
  checkAddresses(addresses);
}
