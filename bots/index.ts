export { BotsProcess, type BotsProcessOptions } from './bots-process.js';
export { type BotKey, Crew, type CrewOptions } from './crew.js';
