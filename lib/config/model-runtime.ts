type Present = Partial<Record<string, string>>;

const SLOTS = ['A', 'B', 'C'] as const;
/** Slots whose provider signs people in with a client of the operator. */
const OAUTH_SLOTS = ['A', 'B'] as const;

/** Lists what is wrong with the variables of connected providers and of their runtime, on either side. */
export function modelRuntimeFaults(role: 'api' | 'worker' | 'runtime', present: Present): string[] {
  const isProduction = (present['NODE_ENV'] ?? 'production') === 'production';
  const isFake = present['MODEL_PROVIDER_FAKE'] === 'true';
  const faults: string[] = [];
  if (isProduction && isFake) {
    faults.push('MODEL_PROVIDER_FAKE: fixture providers are refused in production');
  }
  const enabled = SLOTS.filter((slot) => present[`MODEL_PROVIDER_${slot}_ENABLED`] === 'true');
  for (const slot of enabled) {
    const missing = `MODEL_PROVIDER_${slot}_FILE`;
    if (present[missing] === undefined) faults.push(requiredFor(missing, slot));
  }
  return [
    ...faults,
    ...(role === 'runtime' ? sandboxFaults(present, isProduction) : callerFaults(present, enabled)),
  ];
}

function sandboxFaults(present: Present, isProduction: boolean): string[] {
  if (!isProduction || present['MODEL_RUNTIME_SANDBOX'] !== 'process') return [];
  return ['MODEL_RUNTIME_SANDBOX: process isolates nothing and is refused in production'];
}

/** API and workers have to reach the runtime, and sign people in as a client of theirs, once a provider is enabled. */
function callerFaults(present: Present, enabled: readonly (typeof SLOTS)[number][]): string[] {
  const [first] = enabled;
  if (first === undefined) return [];
  const runtime = ['MODEL_RUNTIME_URL', 'MODEL_RUNTIME_SECRET', 'MODEL_RUNTIME_CA_FILE']
    .filter((name) => present[name] === undefined)
    .map((name) => requiredFor(name, first));
  const clients = OAUTH_SLOTS.filter((slot) => enabled.includes(slot))
    .map((slot) => [`MODEL_PROVIDER_${slot}_CLIENT_ID`, slot] as const)
    .filter(([name]) => present[name] === undefined)
    .map(([name, slot]) => requiredFor(name, slot));
  return [...runtime, ...clients];
}

function requiredFor(name: string, slot: string): string {
  return `${name}: required, as MODEL_PROVIDER_${slot}_ENABLED is true`;
}
