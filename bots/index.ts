export { BotFleet } from './bot-fleet.js';
export { BotsProcess } from './bots-process.js';
