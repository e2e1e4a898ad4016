import { useState } from 'react';
import { sentence } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { Amounts, LimitList } from './forecast.tsx';

export interface OverBudgetProps {
  readonly routineId: string;
  readonly message: string;
  readonly isSending: boolean;
  readonly onClose: () => void;
  readonly onAccept: () => void;
}

/** Shows the forecast of a limit that runs out, and asks to accept it. */
export function OverBudget({ routineId, message, isSending, onClose, onAccept }: OverBudgetProps) {
  const [accepted, setAccepted] = useState(false);
  const forecast = useRead('/v1/routines/{routineId}/forecast', { path: { routineId } });
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title="A limit runs out within 30 days"
      description={sentence(message.replace(/; with acceptForecast: true .*$/, ''))}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={isSending}
            disabledReason={accepted ? undefined : 'Accept the forecast first.'}
            onClick={onAccept}
          >
            Activate
          </Button>
        </>
      }
    >
      <Await of={forecast} skeleton={<SkeletonText lines={4} />}>
        {(data) => (
          <div className="flex flex-col gap-4 rounded-lg border border-line p-4">
            <Amounts forecast={data} />
            <LimitList limits={data.limits} />
          </div>
        )}
      </Await>
      <Checkbox
        label="Activate it all the same"
        description="Runs are skipped once the limit is reached."
        checked={accepted}
        onChange={setAccepted}
      />
    </Dialog>
  );
}
