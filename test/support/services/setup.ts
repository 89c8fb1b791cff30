import type { TestProject } from 'vitest/node';
import { SharedServices } from './shared-services.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the shared services of this run. */
    readonly services: string;
  }
}

/** Before all tests: nothing is started until a file asks for it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const services = await SharedServices.listen();
  provide('services', services.url);
  return () => services.stop();
}
