import { TypeID, typeid, typeidUnboxed } from 'typeid-js';
import { clockAheadMs } from './clock.ts';

export const ID_PREFIX = {
  organization: 'org',
  project: 'prj',
  apiKey: 'key',
  ciTrust: 'cit',
  routine: 'rtn',
  proposal: 'prp',
  run: 'run',
  action: 'act',
  backfill: 'bkf',
  skill: 'skl',
  connection: 'con',
  policy: 'pol',
  toolRule: 'tru',
  modelConnection: 'mcn',
  attempt: 'att',
  delivery: 'whd',
  chat: 'cht',
  chatDelivery: 'chd',
  sharedLink: 'lnk',
  question: 'qst',
  lead: 'lead',
  invitation: 'inv',
  auditEvent: 'aud',
  message: 'msg',
} as const;

export type Resource = keyof typeof ID_PREFIX;

/** Makes a new id in TypeID form: prefix, underscore, UUIDv7 in base32. Ids made later sort later. */
export function newId(resource: Resource): string {
  const aheadMs = clockAheadMs();
  if (aheadMs === 0) return typeidUnboxed(ID_PREFIX[resource]);
  const uuid = typeid(ID_PREFIX[resource]).toUUID();
  const ms = Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16) - aheadMs;
  return idOf(resource, ms, uuid.slice(13));
}

/** Returns the smallest id that could be made at this time, to the millisecond; earlier ids sort before it. */
export function firstIdAt(resource: Resource, at: Date): string {
  return idOf(resource, at.getTime(), '-7000-8000-000000000000');
}

function idOf(resource: Resource, time: number, rest: string): string {
  const ms = Math.max(time, 0).toString(16).padStart(12, '0');
  return TypeID.fromUUID(ID_PREFIX[resource], `${ms.slice(0, 8)}-${ms.slice(8)}${rest}`).toString();
}

/** Matches a well-formed id of the resource. Other ids cannot exist, so they need no query. */
export function idPattern(resource: Resource): RegExp {
  return new RegExp(`^${ID_PREFIX[resource]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`);
}
