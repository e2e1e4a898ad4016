import type { LucideIcon } from 'lucide-react';
import { useSend, type SendOptions } from '../send.ts';
import type { DataOf, InputOf, PathOf } from '../types.ts';
import { ask, type Question } from './ask.ts';

type Sent = 'post' | 'put' | 'patch' | 'delete';

/** An action on one thing, declared once for its buttons, menus, key and the palette. */
export interface Verb<Of, M extends Sent, P extends PathOf<M>> {
  readonly method: M;
  readonly path: P;
  readonly label: string;
  readonly icon: LucideIcon;
  /** The key that performs the action on the focused row. */
  readonly key?: string;
  readonly danger?: boolean;
  /** Returns the reason why the action is impossible now. */
  readonly unless?: (of: Of) => string | undefined;
  /** The question before an action that cannot simply be undone. */
  readonly question?: (of: Of) => Question;
  /** @param option whether the option of the question was chosen */
  readonly input: (of: Of, option: boolean) => InputOf<P, M>;
  /** The version that the person has seen; the service refuses the action if there is a newer one. */
  readonly ifMatch?: (of: Of) => string;
  /** Paths to read again afterwards. */
  readonly changes: readonly string[];
  /** Text of the toast after a success. */
  readonly done?: SendOptions<DataOf<P, M>>['done'];
}

/** Declares a verb, and checks its path and its input by type. */
export function verb<Of>() {
  return <M extends Sent, P extends PathOf<M>, S extends Omit<Verb<Of, M, P>, 'method' | 'path'>>(
    method: M,
    path: P,
    said: S,
  ): { method: M; path: P } & S => ({ method, path, ...said });
}

/** A verb on a page: its words and its action. */
export interface Doing<Of, D = unknown> {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly danger: boolean;
  readonly isBusy: boolean;
  readonly reasonAgainst: (of: Of) => string | undefined;
  /** Asks the question, then performs the action. An error is shown in the dialog of the question, or in a toast. */
  readonly act: (of: Of) => void;
  /** Performs the action without a question. @throws {ApiError} */
  readonly actAsync: (of: Of) => Promise<D>;
}

/** Returns a verb with its action, for use on a page. */
export function useVerb<Of, M extends Sent, P extends PathOf<M>>(
  verb: Verb<Of, M, P>,
  {
    onDone,
    showsError = false,
    done = verb.done,
  }: Pick<SendOptions<DataOf<P, M>>, 'onDone' | 'showsError' | 'done'> = {},
): Doing<Of, DataOf<P, M>> {
  const { label, icon, danger = false, question, unless } = verb;
  const sending = useSend(verb.method, verb.path, {
    refreshes: verb.changes,
    showsError: showsError || question !== undefined,
    ...(done === undefined ? {} : { done }),
    ...(onDone === undefined ? {} : { onDone }),
  });
  const send = (of: Of, option: boolean) =>
    sending.sendInput(verb.input(of, option), verb.ifMatch === undefined ? {} : { ifMatch: verb.ifMatch(of) });
  return {
    label,
    icon,
    danger,
    isBusy: sending.isSending,
    reasonAgainst: (of) => unless?.(of),
    act: (of) => {
      // The toast shows the error already.
      if (question === undefined) void send(of, false).catch(() => undefined);
      else ask({ ...question(of), confirm: (option) => send(of, option) });
    },
    actAsync: (of) => send(of, false),
  };
}
