export { loadProviders, TOOL_SERVER, type ProviderCatalogue } from './catalogue.ts';
export { connectWithKey } from './connect-with-key.ts';
export { listAccounts } from './list-accounts.ts';
export { CATEGORIES, type OAuthProviderAuth, type Provider } from './provider.ts';
export { verifyAtToolServer, verifyCredential } from './verify.ts';
