import { useInfiniteQuery, useQuery, type InfiniteData, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call, type Reply } from './call.ts';
import { ApiError } from './error.ts';
import { keyOf, useOptionalProjectId } from './project.ts';
import type { DataOf, InputOf, ItemOf, PathOf } from './types.ts';

/** State of a read, as a page sees it. */
export interface Loaded<D> {
  readonly data: D | undefined;
  /** The error of the latest read, also while older data is still shown. */
  readonly error: ApiError | null;
  /** True until the first response. A page then shows a skeleton, and never "none". */
  readonly isPending: boolean;
  /** Reading this field redraws the page at the start and the end of each refresh, so read it only to show it. */
  readonly isFetching: boolean;
  /** The `ETag` of the response, to be sent as `If-Match`. */
  readonly etag: string | undefined;
  readonly refetch: () => void;
}

export interface ReadOptions {
  /** Interval for repeated reads while the page is visible. */
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
 * Reads the response of a POST that changes nothing.
 * @example
 * const preview = useAsk('/v1/routines/{routineId}/preview', { path: { routineId }, body: { variables } });
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
    ...replyQuery(method, path, input, projectId),
    refetchInterval: whileSignedIn(everyMs),
    enabled,
    ...(keepPrevious ? { placeholderData: (previous) => previous } : {}),
    ...(staleMs === undefined ? {} : { staleTime: staleMs }),
  });
  return {
    data: query.data?.data,
    etag: query.data?.etag,
    error: query.error,
    isPending: query.isPending,
    get isFetching() {
      return query.isFetching;
    },
    refetch: () => void query.refetch(),
  };
}

/** Stops repeated reads when the session has ended. After the next sign-in the pages read everything again. */
function whileSignedIn(everyMs: number | false) {
  return ({ state: { error } }: { readonly state: { readonly error: unknown } }) =>
    error instanceof ApiError && error.status === 401 ? false : everyMs;
}

function replyQuery<M extends 'get' | 'post', P extends PathOf<M>>(
  method: M,
  path: P,
  input: InputOf<P, M>,
  projectId: string | undefined,
) {
  return {
    queryKey: keyOf(projectId, path, input),
    queryFn: ({ signal }: { signal: AbortSignal }) => call(method, path, input, { projectId, signal }),
  };
}

/** Starts the reads of a page while its code still loads. */
export function aheadOf(client: QueryClient, projectId: string) {
  return {
    read<P extends PathOf<'get'>>(path: P, input: InputOf<P, 'get'>): void {
      void client.prefetchQuery(replyQuery('get', path, input, projectId));
    },
    list<P extends PathOf<'get'>>(path: P, input: InputOf<P, 'get'>): void {
      void client.prefetchInfiniteQuery(listQuery(path, input, projectId));
    },
  };
}

/** Joins two reads for a part of a page that shows both. */
export function bothOf<A, B>(one: Loaded<A>, other: Loaded<B>): Loaded<readonly [A, B]> {
  return {
    data: one.data === undefined || other.data === undefined ? undefined : [one.data, other.data],
    etag: undefined,
    error: one.error ?? other.error,
    isPending: one.isPending || other.isPending,
    get isFetching() {
      return one.isFetching || other.isFetching;
    },
    refetch: () => {
      one.refetch();
      other.refetch();
    },
  };
}

/** A list that shows all pages read so far as one list. */
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
    ...listQuery(path, input, projectId),
    getNextPageParam: (last: Reply<unknown>) => last.nextCursor,
    select: itemsOf,
    refetchInterval: whileSignedIn(everyMs),
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
    get isFetching() {
      return list.isFetching;
    },
    refetch: () => void list.refetch(),
    hasMore: list.hasNextPage,
    isLoadingMore: list.isFetchingNextPage,
    loadMore: () => void list.fetchNextPage(),
  };
}

function listQuery<P extends PathOf<'get'>>(path: P, input: InputOf<P, 'get'>, projectId: string | undefined) {
  return {
    queryKey: [...keyOf(projectId, path, input), 'list'],
    queryFn: ({ pageParam, signal }: { pageParam: unknown; signal: AbortSignal }) =>
      call('get', path, withCursor<P>(input, String(pageParam)), { projectId, signal }),
    initialPageParam: '',
  };
}

/** Reads page after page of a list while `wanted` is true. */
export function useReadOn(list: LoadedList<unknown>, wanted: boolean): void {
  const { hasMore, isLoadingMore, error, loadMore } = list;
  // Stop after an error: the next refresh tries again, with a pause.
  const readsOn = wanted && hasMore && !isLoadingMore && error === null;
  useEffect(() => {
    if (readsOn) loadMore();
  }, [readsOn, loadMore]);
}

/** Reads a list to its end, for a choice among all of its items. */
export function useAll<P extends PathOf<'get'>>(
  path: P,
  input: InputOf<P, 'get'>,
  options: ReadOptions = {},
): LoadedList<ItemOf<P>> {
  const list = useList(path, input, options);
  useReadOn(list, true);
  return list;
}

const SETTLE_MS = 300;

/** Returns a text after it has not changed for a moment, so that the server is not asked at every key. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Joins the items of the pages read so far: the same array while none of them has changed. */
function itemsOf({ pages }: InfiniteData<Reply<unknown>>): readonly unknown[] {
  return pages.flatMap(({ data }) => data);
}

function withCursor<P extends PathOf<'get'>>(input: InputOf<P, 'get'>, cursor: string): InputOf<P, 'get'> {
  if (cursor === '') return input;
  const query = 'query' in input && typeof input.query === 'object' ? input.query : {};
  return { ...input, query: { ...query, cursor } };
}
