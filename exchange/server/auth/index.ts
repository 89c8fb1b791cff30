export { type Access, type Admission, Authenticator } from './authenticator.js';
export { sameText } from './constant-time.js';
export type { KeyHolder } from './key-check.js';
export { secondFactorFits, secondFactorOf } from './second-factor.js';
export { Tokens } from './tokens.js';
