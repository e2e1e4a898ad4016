import type { ReactNode } from 'react';

/** The question before an action that cannot simply be undone. */
export interface Question {
  readonly title: string;
  /** The consequences of the action. */
  readonly description: ReactNode;
  /** The action as a verb: "Archive routine". */
  readonly action: string;
  /** `primary` for what can be undone after all. */
  readonly kind?: 'danger' | 'primary';
  /** A choice that goes with it. */
  readonly option?: { readonly label: string; readonly description: string };
}

export interface Asked extends Question {
  /** Does it; the dialog stays while this lasts, and shows its error. */
  readonly confirm: (option: boolean) => Promise<unknown>;
}

let show: ((asked: Asked) => void) | undefined;

/** Sets the dialog that shows questions. Returns what takes it away. */
export function showQuestionsBy(dialog: (asked: Asked) => void): () => void {
  show = dialog;
  return () => {
    if (show === dialog) show = undefined;
  };
}

/** Asks a question in the dialog of the shell. */
export function ask(asked: Asked): void {
  if (show === undefined) throw new Error('No dialog shows questions here.');
  show(asked);
}
