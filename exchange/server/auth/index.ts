export { type Admission, Authenticator, type RequestHead } from './authenticator.js';
export { sameText } from './constant-time.js';
export type { KeyClaim, KeyHolder } from './key-check.js';
export { secondFactorFits, secondFactorOf } from './second-factor.js';
export { type IssuedToken, Tokens } from './tokens.js';
