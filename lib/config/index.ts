export type { ConnectionClients } from './connection-clients.ts';
export { ConfigError, loadConfig, type ConfigOf, type Role } from './load.ts';
export { BILLING_VARIABLES, variables, type Config } from './schema.ts';
