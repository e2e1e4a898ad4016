import { isJsonObject, type JsonObject } from '#lib/json.ts';

/**
 * Reads the used parts of the result of `initialize`: the version, whether there are tools, and the server's name.
 * @returns the form that the MCP library takes; a value that is no result is returned unchanged
 */
export function readHandshake(result: unknown): unknown {
  if (!isJsonObject(result)) return result;
  const { protocolVersion, capabilities, serverInfo } = result;
  return {
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : UNSTATED_VERSION,
    capabilities: readCapabilities(capabilities),
    serverInfo: readServerInfo(serverInfo) ?? { name: 'unnamed', version: '' },
  };
}

/** Reads the result of `server/discover` (MCP 2026-07-28), as `readHandshake` reads the result of `initialize`. */
export function readDiscovery(result: unknown): unknown {
  if (!isJsonObject(result) || !Array.isArray(result['supportedVersions'])) return result;
  const { supportedVersions, capabilities, ttlMs, cacheScope, _meta } = result;
  const about = isJsonObject(_meta) ? readServerInfo(_meta[SERVER_INFO]) : undefined;
  return {
    resultType: 'complete',
    supportedVersions: supportedVersions.filter((version) => typeof version === 'string'),
    capabilities: readCapabilities(capabilities),
    ttlMs: typeof ttlMs === 'number' && ttlMs >= 0 ? ttlMs : 0,
    cacheScope: cacheScope === 'public' ? 'public' : 'private',
    ...(about === undefined ? {} : { _meta: { [SERVER_INFO]: about } }),
  };
}

/** The default revision of a server that names none (MCP 2025-06-18, "Protocol Version Header"). */
const UNSTATED_VERSION = '2025-03-26';
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** Reads whether a server has tools. A server that does not state its capabilities counts as a server with tools. */
function readCapabilities(capabilities: unknown): JsonObject {
  if (!isJsonObject(capabilities)) return { tools: {} };
  return 'tools' in capabilities && capabilities['tools'] !== false ? { tools: {} } : {};
}

function readServerInfo(info: unknown): JsonObject | undefined {
  if (!isJsonObject(info)) return undefined;
  const { name, title, version } = info;
  return {
    name: typeof name === 'string' ? name : 'unnamed',
    version: typeof version === 'string' || typeof version === 'number' ? String(version) : '',
    ...(typeof title === 'string' ? { title } : {}),
  };
}
