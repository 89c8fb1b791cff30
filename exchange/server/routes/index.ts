export { authRoutes } from './auth-routes.js';
export { controlAccountRoutes } from './control-account-routes.js';
export { controlRoutes } from './control-routes.js';
export { historyRoutes } from './history-routes.js';
export { orderRoutes } from './order-routes.js';
export { publicRoutes } from './public-routes.js';
export { walletRoutes } from './wallet-routes.js';
