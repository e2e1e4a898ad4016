import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Context } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { explain } from './explain.ts';
import { fieldsOf } from './failure.ts';
import { duration, when } from './output/words.ts';
import { addressInUse, type Account } from './profiles/account.ts';
import { masked, maskedKey } from './profiles/mask.ts';
import { profilesFile } from './profiles/store.ts';
import { jsonOf, request } from './request.ts';
import { scopesOf } from './sign-in/scopes.ts';
import { isOlder, ownVersion } from './version.ts';

const OLDEST_NODE = 20;
/**
 * The largest accepted difference between the clocks. A larger difference makes signatures invalid and schedules seem
 * wrong.
 */
const MOST_SKEW_MS = 60_000;
/** `doctor` warns if the key expires within this time. */
const ENDING_MS = 7 * 86_400_000;

interface Finding {
  readonly check: string;
  readonly state: 'good' | 'warning' | 'bad';
  readonly detail: string;
}

/** Adds `doctor`, which exits with 1 when a check fails. */
export function registerDoctor(program: Command, context: Context): void {
  program
    .command('doctor')
    .description('Look for what keeps the CLI from working.')
    .action(async () => {
      const findings = [node(), await file(context), ...(await service(context))];
      context.out.table(findings, [
        { title: 'check', value: ({ check }) => check },
        { title: 'state', value: ({ state }) => state },
        { title: 'detail', value: ({ detail }) => detail },
      ]);
      if (findings.some(({ state }) => state === 'bad')) context.exitCode = EXIT.failed;
    });
}

function node(): Finding {
  const { node: version } = process.versions;
  const isOld = Number.parseInt(version, 10) < OLDEST_NODE;
  const detail = isOld ? `${version}, and ${OLDEST_NODE} is needed` : version;
  return { check: 'Node.js', state: isOld ? 'bad' : 'good', detail };
}

async function file({ env }: Context): Promise<Finding> {
  const name = profilesFile(env);
  const found = await stat(name).catch(() => undefined);
  if (found === undefined) return { check: 'profiles', state: 'good', detail: `none in ${name}` };
  const isOpen = process.platform !== 'win32' && (found.mode & 0o077) !== 0;
  return {
    check: 'profiles',
    state: isOpen ? 'bad' : 'good',
    detail: isOpen ? `others can read ${name}: chmod 600 it, and change the keys` : name,
  };
}

async function service(context: Context): Promise<readonly Finding[]> {
  const address = await attempt('address', context, () => addressInUse(context, context.options));
  if (typeof address !== 'string') return [address];
  const begun = context.now();
  const health = await attempt('address', context, () => request(context, `${address}/health`));
  if (!(health instanceof Response)) return [health];
  const tookMs = context.now() - begun;
  const { status } = fieldsOf(fieldsOf(await jsonOf(health))['data']);
  if (status !== 'ok') {
    const detail = `${address} responds with ${health.status}, and not as the service does`;
    return [{ check: 'address', state: 'bad', detail }];
  }
  return [
    { check: 'address', state: 'good', detail: `${address} responds in ${duration(tookMs)}` },
    clock(context, health, tookMs),
    await version(context, address),
    ...(await key(context)),
  ];
}

function clock(context: Context, health: Response, tookMs: number): Finding {
  const theirs = Date.parse(health.headers.get('date') ?? '');
  if (Number.isNaN(theirs)) {
    return { check: 'clock', state: 'warning', detail: 'the service does not say the time' };
  }
  // The header has whole seconds, so the difference may be a second too large.
  const skewMs = Math.abs(context.now() - theirs) - tookMs - 1_000;
  return skewMs > MOST_SKEW_MS
    ? { check: 'clock', state: 'bad', detail: `${duration(skewMs)} from that of the service` }
    : { check: 'clock', state: 'good', detail: 'as that of the service' };
}

async function version(context: Context, address: string): Promise<Finding> {
  const check = 'version';
  const response = await attempt(check, context, () => request(context, `${address}/v1/version`));
  if (!(response instanceof Response)) return response;
  const { version: theirs } = fieldsOf(fieldsOf(await jsonOf(response))['data']);
  const own = `ras ${ownVersion()}`;
  if (typeof theirs === 'string' && !isOlder(theirs, ownVersion())) {
    return { check, state: 'good', detail: `service ${theirs}, ${own}` };
  }
  const older = typeof theirs === 'string' ? `is ${theirs},` : 'does not say its version, so it is';
  return { check, state: 'warning', detail: `the service ${older} older than ${own}: some commands may be refused` };
}

async function key(context: Context): Promise<readonly Finding[]> {
  const account = await attempt<Account>('key', context, () => context.account());
  if ('check' in account) return [account];
  const scopes = await attempt('key', context, async () => scopesOf(await context.client()));
  if ('check' in scopes) return [scopes];
  const { apiKey, expiresAt } = account;
  const isEnding = expiresAt !== undefined && Date.parse(expiresAt) - context.now() < ENDING_MS;
  const until = expiresAt === undefined ? '' : `, until ${when(expiresAt)}`;
  const from = account.profile === undefined ? 'RAS_API_KEY' : `profile "${account.profile}"`;
  return [
    {
      check: 'key',
      state: isEnding ? 'warning' : 'good',
      detail: `${maskedKey(apiKey)} of ${from}${until}`,
    },
    {
      check: 'scopes',
      state: scopes.length === 0 ? 'bad' : 'good',
      detail: scopes.join(' ') || 'none that the CLI uses',
    },
  ];
}

async function attempt<T>(check: string, context: Context, act: () => Promise<T>): Promise<T | Finding> {
  try {
    return await act();
  } catch (error) {
    const account = await context.account().catch(() => undefined);
    const { lines } = explain(error, account);
    const detail = lines.filter((line) => !line.startsWith('ras doctor ')).join(' ');
    return { check, state: 'bad', detail: masked(detail.replace(/^Error: /, ''), account?.apiKey) };
  }
}
