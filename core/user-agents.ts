/** The User-Agent of this client's requests and handshakes. */
export const USER_AGENT = 'chancery';
/** The User-Agent of the bots; the simulated exchange can spare them from faults by it. */
export const BOTS_USER_AGENT = 'chancery-bots';
