import { z } from 'zod';
import { isEndState, RUN_STATES } from '#core/execution/run-states/index.ts';
import { AppError } from '#lib/errors.ts';
import { withoutUndefined } from '#lib/json.ts';
import { idPattern } from '#lib/ids.ts';
import type { ProjectAccess, Via } from '../access.ts';
import type { Deps } from '../deps.ts';
import { assertPermitted, isStillAllowed } from '../http/authenticate.ts';
import { validate } from '../http/validate.ts';
import type { Wait } from '../route.ts';
import { type Call, perform, type Performed } from '../perform.ts';
import { isBeyondOneAnswer, viewed, writeAnswer, type WrittenAnswer } from './answer.ts';
import { namesIn, withIds } from './names.ts';
import { readArguments, type RouteTool, runArguments, toolNamed, waitArguments } from './tools.ts';

/** A request to `/mcp` from an identified caller. */
export interface Caller {
  readonly access: ProjectAccess;
  readonly via: Via;
  readonly requestId: string;
  readonly clientAddress: string;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Calls a tool and returns its answer. @throws {AppError} of permission and of the operation */
export async function callTool(
  tool: RouteTool,
  given: Arguments,
  context: { readonly caller: Caller; readonly deps: Deps },
): Promise<WrittenAnswer> {
  await assertPermitted(tool.route.spec, context.caller.access, context.deps);
  switch (tool.definition.name) {
    case 'run_routine': {
      const { waitSeconds, ...rest } = given;
      const wait = validate(runArguments, withoutUndefined({ waitSeconds }));
      const { data } = await performed(tool, rest, context);
      return endedRun(identified.parse(data).id, wait.waitSeconds, context);
    }
    case 'wait_for_run': {
      const { runId, ...rest } = given;
      const wait = validate(waitArguments, rest);
      return endedRun(String(runId), wait.timeoutSeconds, context);
    }
    case 'read_run': {
      const { detail, resultFrom, ...rest } = given;
      const wanted = validate(readArguments, withoutUndefined({ detail, resultFrom }));
      const { data } = await performed(tool, rest, context);
      return runAnswer(data, wanted, context);
    }
    default: {
      const { data, headers, nextCursor } = await performed(tool, given, context);
      const { ETag: etag } = headers;
      const shown = viewed(data, tool.tool.view);
      return writeAnswer({
        data: shown,
        schema: tool.route.spec.success.data,
        names: await namesIn(shown, context),
        isStructured: tool.route.spec.method !== 'GET' && tool.tool.view !== undefined && !Array.isArray(data),
        ...(etag !== undefined && { added: { etag } }),
        notes: [
          ...(nextCursor === undefined ? [] : [`There are more: call again with cursor "${nextCursor}".`]),
          ...pageOf(data, context),
        ],
      });
    }
  }
}

interface Context {
  readonly caller: Caller;
  readonly deps: Deps;
  readonly wait?: Wait | undefined;
}

/** Performs the operation of a tool. Each argument goes to its place in the request: path, query or body. */
async function performed(tool: RouteTool, given: Arguments, context: Context): Promise<Performed> {
  const { caller, deps, wait } = context;
  const { spec } = tool.route;
  const { idempotencyKey, ifMatch, ...values } = await withIds(given, context);
  const params: Record<string, unknown> = tool.params.has('projectId') ? { projectId: caller.access.projectId } : {};
  const query: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (tool.params.has(name)) params[name] = String(value);
    // Leave null out of a query, where it means that the argument was not given: a query has only texts.
    else if (spec.method !== 'GET') body[name] = value;
    else if (value !== null)
      query[name] = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  }
  if (tool.query.has('limit')) query['limit'] ??= String(LIST_LENGTH);
  const call: Call = {
    ...caller,
    wait,
    path: spec.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name]))),
    params,
    query,
    body: () => Promise.resolve({ raw: Buffer.from(JSON.stringify(body)), value: body }),
    ifMatch: typeof ifMatch === 'string' ? ifMatch : undefined,
    idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined,
  };
  return perform(tool.route, call, deps);
}

const LIST_LENGTH = 20;

/** Waits at most this many seconds for the end of a run, and returns the state of the run. */
async function endedRun(runId: string, seconds: number, context: Context): Promise<WrittenAnswer> {
  const { signal, access } = context.caller;
  const wait: Wait = async (until) => {
    await until(AbortSignal.any([signal, AbortSignal.timeout(seconds * 1_000)]));
    if (!signal.aborted && !(await isStillAllowed(access, READ_RUN.route.spec, context.deps, signal))) {
      throw new AppError('authentication_required', 'Your access was revoked while you waited.');
    }
  };
  const patient = { ...context, wait: seconds === 0 ? undefined : wait };
  const { data } = await performed(READ_RUN, { runId }, patient);
  return runAnswer(data, { ...readArguments.parse({}), isStructured: true }, context);
}

const READ_RUN = toolNamed('read_run');

const identified = z.object({ id: z.string() });

const readable = z.looseObject({
  id: z.string(),
  state: z.enum(RUN_STATES),
  result: z.string().nullable(),
});

interface Wanted extends z.output<typeof readArguments> {
  readonly isStructured?: boolean;
}

async function runAnswer(data: unknown, wanted: Wanted, context: Context): Promise<WrittenAnswer> {
  const { detail, resultFrom, isStructured = false } = wanted;
  const run = readable.parse(data);
  const { view } = READ_RUN.tool;
  const shown = { full: undefined, steps: [...(view ?? []), 'steps'], summary: view }[detail];
  const result = run.result?.slice(resultFrom) ?? null;
  const page = pageOf(run, context);
  if (detail === 'full' && isBeyondOneAnswer({ ...run, result })) {
    throw new AppError('invalid_request', `detail: full is too long for one answer; ask for steps. ${page.join(' ')}`);
  }
  const seen = viewed({ ...run, result }, shown);
  return writeAnswer({
    data: seen,
    names: await namesIn(seen, context),
    schema: READ_RUN.route.spec.success.data,
    isStructured,
    notes: [...(isEndState(run.state) ? [] : ['It has not ended: call wait_for_run for its result.']), ...page],
  });
}

function pageOf(data: unknown, { caller, deps }: Context): string[] {
  const { id = '' } = identified.safeParse(data).data ?? {};
  const kind = (['routine', 'run'] as const).find((each) => idPattern(each).test(id));
  const base = `${deps.config.UI_ORIGIN}/p/${caller.access.projectId}`;
  return kind === undefined ? [] : [`Page for people: ${base}/${kind}s/${id}`];
}
