import { readFileSync, writeFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { MODEL_DIALECTS } from '#lib/config/index.ts';
import type { Asked, Listed, Refused } from './ask.ts';
import { computesItself, titleOf } from './servers.ts';

/** An entry of the file that `GATEWAYS_FILE` names. */
const sourceEntry = z.object({
  name: z.string(),
  baseUrl: z.string(),
  apiKeyVariable: z.string().optional(),
  dialect: z.enum(MODEL_DIALECTS),
  free: z.boolean(),
  prefix: z.boolean(),
});
type SourceEntry = z.output<typeof sourceEntry>;

/** A source to ask for its models. */
export interface Candidate {
  readonly label: string;
  /** Place of the server. The source's label then consists of the server's maker and this place. */
  readonly place?: string;
  readonly asked: Asked;
  /** True for a usual port of model servers. There may be no server at such a port. */
  readonly isGuess: boolean;
  readonly entry: SourceEntry;
}

export interface Tried extends Candidate {
  readonly answer: Listed | Refused;
}

/**
 * Completes the entries from their servers' lists. A source of an earlier start keeps its name and the ids of its
 * models, because routines have stored them. If the first start finds only one source, its models get plain ids.
 */
export function settle(sources: readonly Tried[], earlier: readonly SourceEntry[]): Tried[] {
  const knownAs = ({ entry }: Candidate) => earlier.find(({ baseUrl }) => baseUrl === entry.baseUrl);
  const names = new Set(sources.map((source) => knownAs(source)?.name));
  return sources.map((source) => {
    const { entry, place, label, isGuess, answer } = source;
    const known = knownAs(source);
    const told = 'models' in answer ? answer.dialect : known?.dialect;
    const dialect = isGuess || entry.dialect === 'other' ? (told ?? entry.dialect) : entry.dialect;
    const byMaker = isGuess && dialect !== 'other' && !names.has(dialect);
    const name = known?.name ?? (byMaker ? dialect : entry.name);
    names.add(name);
    const isAlone = sources.length === 1 && earlier.length === 0;
    return {
      ...source,
      label: place === undefined ? label : `${titleOf(dialect)} ${place}`,
      entry: {
        ...entry,
        name,
        dialect,
        free: computesItself(dialect) && isNear(entry.baseUrl),
        prefix: known?.prefix ?? (entry.prefix && !isAlone),
      },
    };
  });
}

const NEAR = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal']);

/**
 * Returns true for an address of this machine or its local network. At any other address a vLLM server may be a paid
 * service.
 */
function isNear(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '');
  if (/^(.+\.)?localhost$|^host\.docker\.internal$/.test(host)) return true;
  return ipaddr.isValid(host) && NEAR.has(ipaddr.process(host).range());
}

const HEADING =
  '# Made at each start from what it found. To choose by yourself, see GATEWAYS_FILE in docs/models.md.\n';

/** Writes the entries in the form of `GATEWAYS_FILE`. */
export function writeEntries(file: string, sources: readonly SourceEntry[]): void {
  writeFileSync(file, HEADING + stringify({ sources }));
}

/** Reads the entries of earlier starts; a file that cannot be read is made again. */
export function readEntries(file: string): SourceEntry[] {
  try {
    const { sources } = z.object({ sources: z.array(sourceEntry) }).parse(parse(readFileSync(file, 'utf8')));
    return sources;
  } catch {
    return [];
  }
}
