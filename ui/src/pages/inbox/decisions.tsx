import { ListPlus, Pencil } from 'lucide-react';
import { lazy, Suspense, useState, type RefObject } from 'react';
import type { ApiError } from '#ui/api/error.ts';
import { errorInWords } from '#ui/api/form.ts';
import { useList } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { APPROVE, INBOX_KEYS, REJECT } from '#ui/api/verbs/actions.ts';
import { drawn } from '#ui/format/drawn.ts';
import { Button } from '#ui/parts/button.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { usePageKeys } from '#ui/parts/page-keys.ts';

// Each dialog is loaded when a person first opens it.
const NewRule = lazy(() => import('./new-rule.tsx'));
const RejectDialog = lazy(() => import('./reject-dialog.tsx'));

type Action = Shape<'Action'>;

export interface DecisionsProps {
  readonly call: Shape<'ActionDetail'>;
  /** The element that must be visible before a key decides. */
  readonly pane: RefObject<HTMLElement | null>;
  /** True while the shown call differs from the call that would be sent. */
  readonly isChanged: boolean;
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  readonly onApprove: () => void;
  readonly onEdit: () => void;
  readonly onDecided: (action: Action) => void;
}

/** Shows the buttons below a call, and listens for their keys. */
export function Decisions({ call, pane, isChanged, isBusy, error, ...on }: DecisionsProps) {
  const [open, setOpen] = useState<'reject' | 'rule'>();
  const isOpen = call.state === 'open';
  const first = useWaitingFirst(call);
  const against = isChanged
    ? 'Look at the change first.'
    : first &&
      `This call uses the result of ${drawn(first.toolName)}, which waits too. Approve that call first, or both at once.`;
  const canApprove = isOpen && against === undefined && !isBusy;
  usePageKeys((key) => {
    if (!isOpen || pane.current?.checkVisibility() !== true) return false;
    if (key === APPROVE.key && canApprove) on.onApprove();
    else if (key === INBOX_KEYS.edit.key && canApprove) on.onEdit();
    else if (key === REJECT.key) setOpen('reject');
    else return false;
    return true;
  });
  const close = () => setOpen(undefined);
  return (
    <>
      {isOpen && (
        <div className="sticky bottom-0 flex flex-col gap-2 border-t border-line bg-canvas py-3">
          <FormError message={errorInWords(error)} />
          {first !== undefined && <p className="text-sm text-muted">{against}</p>}
          <div className="flex flex-wrap gap-2">
            <Button kind="primary" icon={APPROVE.icon} busy={isBusy} disabledReason={against} onClick={on.onApprove}>
              {APPROVE.label}
            </Button>
            <Button icon={Pencil} disabledReason={against} onClick={on.onEdit}>
              {INBOX_KEYS.edit.label}
            </Button>
            <Button icon={REJECT.icon} onClick={() => setOpen('reject')}>
              {REJECT.label}
            </Button>
            <RuleButton onClick={() => setOpen('rule')} />
          </div>
        </div>
      )}
      {!isOpen && call.arguments !== null && (
        <div>
          <RuleButton onClick={() => setOpen('rule')} />
        </div>
      )}
      <Suspense>
        {open === 'reject' && <RejectDialog call={call} onClose={close} onDecided={on.onDecided} />}
        {open === 'rule' && <NewRule action={call} onClose={close} />}
      </Suspense>
    </>
  );
}

/** Finds a call whose result this call uses, and which has to be approved first. */
function useWaitingFirst({ runId, refersTo, state }: Action): Action | undefined {
  const enabled = state === 'open' && refersTo.length > 0;
  const ofRun = useList('/v1/actions', { query: { runId, limit: 200 } }, { enabled });
  return ofRun.data?.find((each) => each.state === 'open' && refersTo.includes(each.id));
}

function RuleButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <Button kind="quiet" icon={ListPlus} onClick={onClick}>
      Calls like this…
    </Button>
  );
}
