import type { ModelSource } from './model-sources.ts';
import { BILLING_VARIABLES, SECRET_VARIABLES, type Present } from './variables.ts';

const PAID_ROLES: ReadonlySet<string> = new Set(['api', 'worker', 'billing-check', 'billing-reconcile']);

/**
 * Lists settings that the product refuses, most of them in production only. Only variables that are set are checked.
 */
export function productionFaults(role: string, present: Present, sources: readonly ModelSource[]): string[] {
  const serves = role === 'api' || role === 'worker';
  const faults: string[] = PAID_ROLES.has(role) ? billingFaults(present) : [];
  if (serves && present['SMTP_URL'] !== undefined && present['MAIL_FROM'] === undefined) {
    faults.push('MAIL_FROM: required, as SMTP_URL is set');
  }
  const isPooled = present['DATABASE_URL']?.includes('pgbouncer=true') === true;
  if (role === 'migrate' && isPooled && present['DATABASE_DIRECT_URL'] === undefined) {
    faults.push('DATABASE_DIRECT_URL: required, as DATABASE_URL leads to a pooler');
  }
  if (!isProduction(present)) return faults;
  if (role !== 'runtime' && role !== 'ui') faults.push(...plaintextFaults(role, present, sources));
  if (serves) faults.push(...localFaults(present), ...keyFaults(present, sources));
  if (role === 'api') faults.push(...exposureFaults(present));
  return faults;
}

/**
 * Lists missing settings of the dashboard. These settings have no defaults in production: a wrong address would refuse
 * every sign-in, or send people elsewhere.
 */
export function dashboardFaults(present: Present): string[] {
  if (!isProduction(present)) return [];
  const faults: string[] = [];
  if (present['UI_ORIGIN']?.startsWith('https://') !== true) {
    faults.push('UI_ORIGIN: required in production: an https origin');
  }
  if (present['API_URL'] === undefined) {
    faults.push('API_URL: required in production: the origin at which the dashboard reaches the API');
  }
  return faults;
}

/** Lists secrets that are equal to another secret: a thief of one secret would have both. */
export function repeatedSecrets(present: Present): string[] {
  const secrets = SECRET_VARIABLES.filter((name) => !name.endsWith('_URL'));
  return secrets.flatMap((name, at) => {
    const secret = present[name];
    const other = secrets.slice(0, at).find((earlier) => secret !== undefined && present[earlier] === secret);
    return other === undefined ? [] : [`${name}: expected a secret of its own, not that of ${other}`];
  });
}

export function isProduction(present: Present): boolean {
  return (present['NODE_ENV'] ?? 'production') === 'production';
}

function billingFaults(present: Present): string[] {
  const there = BILLING_VARIABLES.filter((name) => present[name] !== undefined);
  const missing = BILLING_VARIABLES.filter((name) => present[name] === undefined);
  if (there.length === 0 || missing.length === 0) return [];
  return [`payment billing is only partly configured: ${there.join(', ')} present; ${missing.join(', ')} missing`];
}

/** Lists settings that are for local use only. */
function localFaults(present: Present): string[] {
  const faults: string[] = [];
  if (present['FIXTURE_MODE'] === 'true') {
    faults.push('FIXTURE_MODE: fixture mode is refused in production');
  }
  if (present['ALLOW_PRIVATE_NETWORK'] === 'true') {
    faults.push('ALLOW_PRIVATE_NETWORK: refused in production');
  }
  if (present['STRIPE_API_URL'] !== undefined) {
    faults.push('STRIPE_API_URL: refused in production');
  }
  return faults;
}

function keyFaults(present: Present, sources: readonly ModelSource[]): string[] {
  if (present['GATEWAYS_FILE'] === undefined) {
    const hasKey = present['GATEWAY_API_KEY'] !== undefined;
    return hasKey ? [] : ['GATEWAY_API_KEY: required in production'];
  }
  return sources
    .filter(({ apiKeyVariable, free }) => apiKeyVariable === undefined && !free)
    .map(({ name }) => `GATEWAYS_FILE: ${name}: apiKeyVariable is required in production`);
}

/** Lists faults of settings that decide who can reach the service and sign in. */
function exposureFaults(present: Present): string[] {
  const faults: string[] = [];
  const { SIGN_UP: signUp, SMTP_URL: mailServer, TRUSTED_PROXIES: proxies } = present;
  if (signUp === undefined) {
    faults.push('SIGN_UP: required in production: open, invited or closed');
  }
  if (signUp === 'open' && mailServer === undefined) {
    faults.push('SMTP_URL: required in production, as SIGN_UP is open and addresses are confirmed');
  }
  if (proxies === undefined) {
    faults.push(
      'TRUSTED_PROXIES: required in production: the addresses or networks of the proxies in front of the API, or none',
    );
  }
  for (const name of ['PUBLIC_URL', 'UI_ORIGIN']) {
    if (present[name]?.startsWith('https://') !== true) {
      faults.push(`${name}: required in production: an https origin`);
    }
  }
  return faults;
}

/** Lists unencrypted connections that leave this machine, unless the operator has declared their network private. */
function plaintextFaults(role: string, present: Present, sources: readonly ModelSource[]): string[] {
  const allowed = new Set(present['ALLOW_PLAINTEXT_TO']?.split(',').map((name) => name.trim()));
  const faults: string[] = [];
  const refuse = (backend: string, variable: string, remedy: string) => {
    if (allowed.has(backend)) return;
    faults.push(
      `${variable}: TLS is required in production: ${remedy}, or ${backend} in ALLOW_PLAINTEXT_TO on a private network`,
    );
  };
  for (const name of ['DATABASE_URL', ...(role === 'migrate' ? ['DATABASE_DIRECT_URL'] : [])]) {
    const database = present[name];
    if (database === undefined || !URL.canParse(database)) continue;
    if (!isPostgresVerified(new URL(database))) refuse('postgres', name, 'sslmode=verify-full');
  }
  const { TEMPORAL_ADDRESS: temporal } = present;
  const usesTemporal = role === 'api' || role === 'worker' || role === 'deployment';
  if (usesTemporal && temporal !== undefined && !isTemporalEncrypted(temporal, present)) {
    refuse('temporal', 'TEMPORAL_TLS', 'true, an API key or a certificate');
  }
  for (const { name, baseUrl } of sources) {
    const { protocol, hostname } = new URL(baseUrl);
    if (protocol === 'https:' || isThisMachine(hostname)) continue;
    const isListed = present['GATEWAYS_FILE'] !== undefined;
    refuse('gateway', isListed ? `GATEWAYS_FILE: ${name}` : 'GATEWAY_BASE_URL', 'an https address');
  }
  return faults;
}

function isPostgresVerified({ hostname, searchParams }: URL): boolean {
  if (isThisMachine(searchParams.get('host') ?? decodeURIComponent(hostname))) return true;
  const mode = searchParams.get('sslmode');
  if (mode === null) return ['true', '1'].includes(searchParams.get('ssl') ?? '');
  // For libpq, `require` accepts any certificate unless an authority is named.
  const isChecked = searchParams.get('uselibpqcompat') !== 'true' || searchParams.has('sslrootcert');
  return mode === 'verify-full' || mode === 'verify-ca' || (mode === 'require' && isChecked);
}

function isTemporalEncrypted(address: string, present: Present): boolean {
  const implied = ['TEMPORAL_API_KEY', 'TEMPORAL_TLS_CA_FILE', 'TEMPORAL_TLS_CERT_FILE'];
  return (
    present['TEMPORAL_TLS'] === 'true' ||
    implied.some((name) => present[name] !== undefined) ||
    isThisMachine(address.replace(/:\d+$/, ''))
  );
}

function isThisMachine(host: string): boolean {
  return host === '' || /^(\/.*|localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host);
}
