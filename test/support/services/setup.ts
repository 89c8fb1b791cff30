import type { TestProject } from 'vitest/node';
import { RUN_FOLDER, removeFolder, temporaryFolder } from '../temporary-folder.js';
import { SharedServices } from './shared-services.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the shared services of this run. */
    readonly services: string;
  }
}

/** Before all tests: the folder of the run, and the shared services, which start on the first request of a file. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = temporaryFolder();
  process.env[RUN_FOLDER] = folder;
  const services = await SharedServices.listen();
  provide('services', services.url);
  return async () => {
    await services.stop();
    removeFolder(folder);
  };
}
