import type { ReactNode } from 'react';

/** The question before an action that cannot simply be undone. */
export interface Question {
  readonly title: string;
  /** The consequences of the action. */
  readonly description: ReactNode;
  /** The action as a verb: "Archive routine". */
  readonly action: string;
  /** `primary` for an action that can be undone. */
  readonly kind?: 'danger' | 'primary';
  /** A choice next to the question. */
  readonly option?: { readonly label: string; readonly description: string };
}

export interface Asked extends Question {
  /** Performs the action. The dialog stays open until the action is done, and shows its error. */
  readonly confirm: (option: boolean) => Promise<unknown>;
}

let show: ((asked: Asked) => void) | undefined;

/** Sets the dialog that shows questions. Returns a function that removes it. */
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
