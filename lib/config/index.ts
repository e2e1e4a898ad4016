export type { Config, ConnectionClients } from './schema.ts';
export { ConfigError, loadConfig, startingConfig, type ConfigOf, type Role } from './load.ts';
export { MODEL_DIALECTS, ONLY_SOURCE, readModelSources, type ModelDialect, type ModelSource } from './model-sources.ts';
export { isSecret, readSecretFiles } from './secret-files.ts';
export { BILLING_VARIABLES, SECRET_VARIABLES, variables } from './variables.ts';
