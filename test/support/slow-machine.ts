/** Whether the machine is slow: `.ci/run` sets it where `npm test` took more than 400 s. */
export const isSlowMachine = process.env['SLOW_MACHINE'] !== undefined;
