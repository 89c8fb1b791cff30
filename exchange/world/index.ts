export { EventScheduler } from './event-scheduler.js';
export { World } from './world.js';
