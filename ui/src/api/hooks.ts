import {
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type QueryClient,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { call, type CallOptions, type Reply } from './call.ts';
import { ApiError } from './error.ts';
import { isAccountPath, useOptionalProjectId } from './project.ts';
import type { paths } from './schema.d.ts';
import { toast } from './toast.ts';
import type { DataOf, InputArgs, InputOf, ItemOf, Method, PathOf } from './types.ts';

/** State of a read, as a page sees it. */
export interface Loaded<D> {
  readonly data: D | undefined;
  /** Set also while older data is still shown. */
  readonly error: ApiError | null;
  /** True until the first response: show a skeleton, never "none". */
  readonly isPending: boolean;
  readonly isFetching: boolean;
  /** The `ETag` of the response, to be sent as `If-Match`. */
  readonly etag: string | undefined;
  readonly refetch: () => void;
}

export interface ReadOptions {
  /** Interval at which it is read again while the page is visible. */
  readonly everyMs?: number | false;
  readonly enabled?: boolean;
  /** Keeps showing the old data while the next filter or page is read. */
  readonly keepPrevious?: boolean;
  readonly staleMs?: number;
}

/**
 * Reads one resource.
 * @example const run = useRead('/v1/runs/{runId}', { path: { runId } }, { everyMs: 5_000 });
 */
export function useRead<P extends PathOf<'get'>>(
  path: P,
  input: InputOf<P, 'get'>,
  options: ReadOptions = {},
): Loaded<DataOf<P, 'get'>> {
  return useReply('get', path, input, options);
}

/**
 * Reads what is asked for by a POST that changes nothing.
 * @example const preview = useAsk('/v1/routines/{routineId}/preview', { path: { routineId }, body: { variables } });
 */
export function useAsk<P extends PathOf<'post'>>(
  path: P,
  input: InputOf<P, 'post'>,
  options: ReadOptions = {},
): Loaded<DataOf<P, 'post'>> {
  return useReply('post', path, input, options);
}

function useReply<M extends 'get' | 'post', P extends PathOf<M>>(
  method: M,
  path: P,
  input: InputOf<P, M>,
  { everyMs = false, enabled = true, keepPrevious = false, staleMs }: ReadOptions,
): Loaded<DataOf<P, M>> {
  const projectId = useOptionalProjectId();
  const query = useQuery<Reply<DataOf<P, M>>, ApiError>({
    queryKey: keyOf(projectId, path, input),
    queryFn: ({ signal }) => call(method, path, input, { projectId, signal }),
    refetchInterval: everyMs,
    enabled,
    ...(keepPrevious ? { placeholderData: (previous) => previous } : {}),
    ...(staleMs === undefined ? {} : { staleTime: staleMs }),
  });
  return {
    data: query.data?.data,
    etag: query.data?.etag,
    error: query.error,
    isPending: query.isPending,
    isFetching: query.isFetching,
    refetch: () => void query.refetch(),
  };
}

/** A list whose pages read so far are shown as one. */
export interface LoadedList<Item> extends Loaded<readonly Item[]> {
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
}

/**
 * Reads a list by its `Link` headers.
 * @example const runs = useList('/v1/runs', { query: { limit: 50 } }, { everyMs: 5_000 });
 */
export function useList<P extends PathOf<'get'>>(
  path: P,
  input: InputOf<P, 'get'>,
  { everyMs = false, enabled = true, keepPrevious = false }: ReadOptions = {},
): LoadedList<ItemOf<P>> {
  const projectId = useOptionalProjectId();
  const list = useInfiniteQuery({
    queryKey: [...keyOf(projectId, path, input), 'list'],
    queryFn: ({ pageParam, signal }) =>
      call('get', path, withCursor<P>(input, String(pageParam)), { projectId, signal }),
    initialPageParam: '',
    getNextPageParam: (last: Reply<unknown>) => last.nextCursor,
    select: itemsOf,
    refetchInterval: everyMs,
    enabled,
    ...(keepPrevious ? { placeholderData: (previous) => previous } : {}),
  });
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- pages of a list, whose item `ItemOf` names
    data: list.data as readonly ItemOf<P>[] | undefined,
    etag: undefined,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `call` throws nothing else
    error: list.error as ApiError | null,
    isPending: list.isPending,
    isFetching: list.isFetching,
    refetch: () => void list.refetch(),
    hasMore: list.hasNextPage,
    isLoadingMore: list.isFetchingNextPage,
    loadMore: () => void list.fetchNextPage(),
  };
}

/** All items of the pages read so far: the same array while none of them has changed. */
function itemsOf({ pages }: InfiniteData<Reply<unknown>>): readonly unknown[] {
  return pages.flatMap(({ data }) => data);
}

function withCursor<P extends PathOf<'get'>>(
  input: InputOf<P, 'get'>,
  cursor: string,
): InputOf<P, 'get'> {
  if (cursor === '') return input;
  const query = 'query' in input && typeof input.query === 'object' ? input.query : {};
  return { ...input, query: { ...query, cursor } };
}

export interface SendOptions<D> {
  /** Paths to read again after a success: `/v1/routines` includes all below it. */
  readonly refreshes?: readonly string[];
  /** Text of a toast after a success; keep it to the fact: "Routine paused". */
  readonly done?: string | ((data: D) => string);
  readonly onDone?: (data: D, reply: Reply<D>) => void | Promise<void>;
  /** Set where the caller shows the error itself, in a form or beside the button, so that no toast does. */
  readonly showsError?: boolean;
}

export interface Sending<P extends keyof paths, M extends Method> {
  /** Sends, and shows an error in a toast unless the caller does. */
  readonly send: (...args: [...InputArgs<P, M>, options?: SendNow]) => void;
  /** Sends, and resolves with the response. @throws {ApiError} */
  readonly sendAsync: (...args: [...InputArgs<P, M>, options?: SendNow]) => Promise<DataOf<P, M>>;
  readonly isSending: boolean;
  readonly error: ApiError | null;
  readonly data: DataOf<P, M> | undefined;
  readonly reset: () => void;
}

type SendNow = Pick<CallOptions, 'ifMatch'>;

/**
 * Changes something. A POST carries an `Idempotency-Key` that stays the same while the same input is sent again after
 * an error on the way, so that it never happens twice.
 * @example
 * const pause = useSend('post', '/v1/routines/{routineId}/pause', { refreshes: ['/v1/routines'], done: 'Paused' });
 * pause.send({ path: { routineId } });
 */
export function useSend<M extends 'post' | 'patch' | 'delete', P extends PathOf<M>>(
  method: M,
  path: P,
  { refreshes = [], done, onDone, showsError = false }: SendOptions<DataOf<P, M>> = {},
): Sending<P, M> {
  const projectId = useOptionalProjectId();
  const client = useQueryClient();
  const keys = useRef(new Map<string, string>());
  const mutation = useMutation<
    Reply<DataOf<P, M>>,
    ApiError,
    { input: InputOf<P, M>; now: SendNow }
  >({
    mutationFn: async ({ input, now }) => {
      const idempotencyKey = method === 'post' ? keyFor(keys.current, input) : undefined;
      return call(method, path, input, { projectId, idempotencyKey, ...now }).then(
        (reply) => {
          keys.current.clear();
          return reply;
        },
        (error: unknown) => {
          // Refused: the next try is a new request.
          if (error instanceof ApiError && !error.isTemporary) keys.current.clear();
          throw error;
        },
      );
    },
    onSuccess: async (reply) => {
      if (done !== undefined) {
        toast.done(typeof done === 'function' ? done(reply.data) : done);
      }
      await onDone?.(reply.data, reply);
      await refresh(client, projectId, refreshes);
    },
    onError: (error) => {
      if (!showsError) toast.failed(error);
    },
  });
  const split = (args: unknown[]) => {
    const [input = {}, now = {}] = args;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the arguments are typed by `Sending`
    return { input: input as InputOf<P, M>, now: now as SendNow };
  };
  return {
    send: (...args) => mutation.mutate(split(args)),
    sendAsync: async (...args) => (await mutation.mutateAsync(split(args))).data,
    isSending: mutation.isPending,
    error: mutation.error,
    data: mutation.data?.data,
    reset: mutation.reset,
  };
}

function keyFor(keys: Map<string, string>, input: object): string {
  const text = JSON.stringify(input);
  const kept = keys.get(text) ?? crypto.randomUUID();
  keys.clear();
  keys.set(text, kept);
  return kept;
}

/** Reads again everything below these paths, in this project or, for a person's own resources, everywhere. */
export async function refresh(
  client: QueryClient,
  projectId: string | undefined,
  refreshed: readonly string[],
): Promise<void> {
  await client.invalidateQueries({
    predicate: ({ queryKey: [scope, path] }) =>
      typeof path === 'string' &&
      (scope === projectId || scope === ACCOUNT) &&
      refreshed.some((each) => path === each || path.startsWith(`${each}/`)),
  });
}

const ACCOUNT = 'account';

/** Returns the cache key of a read, so that two projects never share a response. */
function keyOf(projectId: string | undefined, path: string, input: object): readonly unknown[] {
  return [isAccountPath(path) ? ACCOUNT : (projectId ?? ACCOUNT), path, input];
}
