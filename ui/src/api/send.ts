import { useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { call, type CallOptions, type Reply } from './call.ts';
import { ApiError } from './error.ts';
import { ACCOUNT, useOptionalProjectId } from './project.ts';
import type { paths } from './schema.d.ts';
import { toast } from './toast.ts';
import type { DataOf, InputArgs, InputOf, Method, PathOf } from './types.ts';

export interface SendOptions<D> {
  /** Paths to read again after a success: `/v1/routines` includes all below it. */
  readonly refreshes?: readonly string[];
  /** Text of a toast after a success. It states the fact: "Routine paused". */
  readonly done?: string | ((data: D) => string);
  readonly onDone?: (data: D, reply: Reply<D>) => void | Promise<void>;
  /** Set if the caller shows the error itself, in a form or beside the button. No toast then shows it. */
  readonly showsError?: boolean;
}

export interface Sending<P extends keyof paths, M extends Method> {
  /** Sends the request, and shows an error in a toast unless the caller shows it. */
  readonly send: (...args: [...InputArgs<P, M>, options?: SendNow]) => void;
  /** Sends the request, and resolves with the response. @throws {ApiError} */
  readonly sendAsync: (...args: [...InputArgs<P, M>, options?: SendNow]) => Promise<DataOf<P, M>>;
  /** Sends the request, whose input is one object, and resolves with the response. @throws {ApiError} */
  readonly sendInput: (input: InputOf<P, M>, options?: SendNow) => Promise<DataOf<P, M>>;
  readonly isSending: boolean;
  /** The input under way. A switch shows it until the page has read the change, or falls back after a refusal. */
  readonly sent: InputOf<P, M> | undefined;
  readonly error: ApiError | null;
  readonly data: DataOf<P, M> | undefined;
  readonly reset: () => void;
}

type SendNow = Pick<CallOptions, 'ifMatch'>;

/**
 * Changes something. A POST carries an `Idempotency-Key`. The key stays the same while the person sends the same input
 * again after a lost response, so that the change happens only once.
 * @example
 * const pause = useSend('post', '/v1/routines/{routineId}/pause', { refreshes: ['/v1/routines'], done: 'Paused' });
 * pause.send({ path: { routineId } });
 */
export function useSend<M extends 'post' | 'put' | 'patch' | 'delete', P extends PathOf<M>>(
  method: M,
  path: P,
  { refreshes = [], done, onDone, showsError = false }: SendOptions<DataOf<P, M>> = {},
): Sending<P, M> {
  const projectId = useOptionalProjectId();
  const client = useQueryClient();
  const keys = useRef(new Map<string, string>());
  const mutation = useMutation<Reply<DataOf<P, M>>, ApiError, { input: InputOf<P, M>; now: SendNow }>({
    mutationFn: async ({ input, now }) => {
      const idempotencyKey = method === 'post' ? keyFor(keys.current, input) : undefined;
      return call(method, path, input, { projectId, idempotencyKey, ...now }).then(
        (reply) => {
          keys.current.clear();
          return reply;
        },
        (error: unknown) => {
          // Forget the keys, because the service refused the request: the next try is a new request.
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
    sendInput: async (input, now = {}) => (await mutation.mutateAsync({ input, now })).data,
    isSending: mutation.isPending,
    sent: mutation.isPending ? mutation.variables.input : undefined,
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

/** Reads the resources at and below these paths again: those of this project and those of the person. */
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
