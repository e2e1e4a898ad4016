import type { Doing } from '#ui/api/verbs/verb.ts';
import { Button, type ButtonProps } from './button.tsx';
import type { MenuAction } from './menu.tsx';

export interface VerbButtonProps<Of> extends Pick<ButtonProps, 'kind' | 'size' | 'disabledReason'> {
  readonly verb: Doing<Of>;
  readonly of: Of;
  /** Label for this place, instead of the verb's own. */
  readonly label?: string;
  /** Leaves the icon out. */
  readonly bare?: boolean;
}

export function VerbButton<Of>({ verb, of, label, bare = false, disabledReason, ...button }: VerbButtonProps<Of>) {
  return (
    <Button
      {...button}
      {...(bare ? {} : { icon: verb.icon })}
      busy={verb.isBusy}
      disabledReason={verb.reasonAgainst(of) ?? disabledReason}
      onClick={() => verb.act(of)}
    >
      {label ?? verb.label}
    </Button>
  );
}

/** Returns the entry of a verb in a menu. */
export function itemOf<Of>(verb: Doing<Of>, of: Of): MenuAction {
  const { label, icon, danger, reasonAgainst, act } = verb;
  return { label, icon, danger, disabledReason: reasonAgainst(of), onSelect: () => act(of) };
}
