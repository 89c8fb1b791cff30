export { BotsProcess } from './bots-process.js';
export { Crew } from './crew.js';
