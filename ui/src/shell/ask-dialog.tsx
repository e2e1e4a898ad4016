import { useEffect, useState } from 'react';
import { ApiError } from '#ui/api/error.ts';
import { errorInWords } from '#ui/api/form.ts';
import { showQuestionsBy, type Asked } from '#ui/api/verbs/ask.ts';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';

/** Shows the one dialog in which verbs ask before an action that cannot simply be undone. */
export function AskDialog() {
  const [asked, setAsked] = useState<Asked>();
  useEffect(() => showQuestionsBy(setAsked), []);
  return asked === undefined ? null : <Question asked={asked} onClose={() => setAsked(undefined)} />;
}

function Question({ asked, onClose }: { asked: Asked; onClose: () => void }) {
  const { title, description, action, kind = 'danger', option, confirm } = asked;
  const [isChosen, setChosen] = useState(false);
  const [state, setState] = useState<'busy' | ApiError>();
  const send = () => {
    setState('busy');
    void confirm(isChosen).then(onClose, (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      setState(error);
    });
  };
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      kind={kind}
      busy={state === 'busy'}
      title={title}
      description={description}
      action={action}
      error={state instanceof ApiError ? errorInWords(state) : undefined}
      onConfirm={send}
    >
      {option !== undefined && <Checkbox {...option} checked={isChosen} onChange={setChosen} />}
    </ConfirmDialog>
  );
}
