/** Clients that the operator registered with providers of connections, by the name in their variables. */
export type ConnectionClients = Readonly<
  Record<string, { readonly clientId: string; readonly clientSecret: string }>
>;

const VARIABLE = /^CONNECTION_([A-Z][A-Z0-9_]*)_CLIENT_(ID|SECRET)$/;

/**
 * Collects `CONNECTION_<NAME>_CLIENT_ID` with its `…_CLIENT_SECRET`. Which names mean something is for the providers
 * to say, so that a new one needs no change here.
 */
export function readConnectionClients(environment: Partial<Record<string, string>>): {
  clients: ConnectionClients;
  faults: string[];
} {
  const names = Object.keys(environment).map((variable) => VARIABLE.exec(variable)?.[1]);
  const clients: Record<string, { clientId: string; clientSecret: string }> = {};
  const faults: string[] = [];
  for (const name of new Set(names)) {
    if (name === undefined) continue;
    const [id, secret] = [`CONNECTION_${name}_CLIENT_ID`, `CONNECTION_${name}_CLIENT_SECRET`];
    const [clientId, clientSecret] = [environment[id], environment[secret]];
    if (clientId === undefined) faults.push(`${id}: required, as ${secret} is set`);
    else if (clientSecret === undefined) faults.push(`${secret}: required, as ${id} is set`);
    else clients[name] = { clientId, clientSecret };
  }
  return { clients, faults };
}
