import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { call } from '#ui/api/call.ts';
import { submitTo } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { plural } from '#ui/format/numbers.ts';
import { inputTime } from '#ui/format/times.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { Amounts, LimitList } from './forecast.tsx';

type Plan = Shape<'BackfillForecast'>;

const MOST = 200;
const WEEK_MS = 7 * 86_400_000;

interface Window {
  readonly from: string;
  readonly to: string;
  readonly max: string;
}

/** Makes runs for past times, after the user has seen and accepted the forecast. */
export default function BackfillDialog({
  routineId,
  onClose,
}: {
  readonly routineId: string;
  readonly onClose: () => void;
}) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const form = useForm<Window>({ defaultValues: lastWeek() });
  const { errors, isSubmitting } = form.formState;
  const [plan, setPlan] = useState<Plan>();
  const [isAccepted, setAccepted] = useState(false);
  const backfill = useSend('post', '/v1/routines/{routineId}/backfill', {
    refreshes: ['/v1/runs', '/v1/routines', '/v1/billing'],
    done: ({ runs }) => `${plural(runs.length, 'run')} queued`,
    showsError: true,
    onDone: ({ id: backfillId }) =>
      navigate({ to: '/p/$projectId/runs', params: { projectId }, search: { backfillId } }),
  });
  const forget = () => {
    setPlan(undefined);
    setAccepted(false);
  };
  const look = submitTo(form, async (window) => {
    const { data } = await call(
      'get',
      '/v1/routines/{routineId}/backfill/forecast',
      { path: { routineId }, query: instantsOf(window) },
      { projectId },
    );
    setPlan(data);
  });
  const start = submitTo(form, (window) =>
    backfill.sendAsync({
      path: { routineId },
      body: { ...instantsOf(window), acceptForecast: true },
    }),
  );
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title="Run for missed times"
      description="Runs the current version once for each missed time. These runs wait behind all others."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {plan === undefined ? (
            <Button kind="primary" type="submit" form="backfill" busy={isSubmitting}>
              Show the forecast
            </Button>
          ) : (
            <Button
              kind="primary"
              busy={backfill.isSending}
              disabledReason={blockedBy(plan, isAccepted)}
              onClick={() => void start()}
            >
              Start {plural(plan.occurrences.count, 'run')}
            </Button>
          )}
        </>
      }
    >
      <form
        id="backfill"
        onSubmit={(event) => void look(event)}
        onChange={forget}
        className="grid gap-4 sm:grid-cols-2"
      >
        <Field label="From" error={errors.from?.message}>
          <Input type="datetime-local" required {...form.register('from')} />
        </Field>
        <Field label="To" error={errors.to?.message}>
          <Input type="datetime-local" required {...form.register('to')} />
        </Field>
        <Field
          label="At most"
          description={`The most runs to make, up to ${MOST}.`}
          error={errors.max?.message}
          className="sm:col-span-2"
        >
          <Input type="number" min={1} max={MOST} required className="max-w-28 tabular" {...form.register('max')} />
        </Field>
        <p className="-mt-2 text-sm text-muted sm:col-span-2">Times are in your zone, {VIEWER_ZONE}.</p>
      </form>
      {plan !== undefined && <Planned plan={plan} />}
      {plan?.runsOut != null && plan.occurrences.count > 0 && (
        <Checkbox
          label="Start the runs all the same"
          description="Runs over the limit fail or are skipped."
          checked={isAccepted}
          onChange={setAccepted}
        />
      )}
      <FormError message={errors.root?.message} />
    </Dialog>
  );
}

/** Returns the last seven days up to the last whole minute; a backfill takes no future times. */
function lastWeek(): Window {
  const now = Date.now();
  return {
    from: inputTime(new Date(now - WEEK_MS)),
    to: inputTime(new Date(now)),
    max: String(MOST),
  };
}

function instantsOf({ from, to, max }: Window) {
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    max: Number(max),
  };
}

function blockedBy({ occurrences, runsOut }: Plan, isAccepted: boolean): string | undefined {
  if (occurrences.count === 0) return 'No time of this span needs a run.';
  return runsOut !== null && !isAccepted ? 'First accept that a limit runs out.' : undefined;
}

function Planned({ plan }: { plan: Plan }) {
  const { occurrences, leftOut, nextFrom, limits } = plan;
  const left = leftOutInWords(leftOut);
  return (
    <div role="status" className="flex flex-col gap-4 rounded-lg border border-line p-4">
      {occurrences.count === 0 ? (
        <p className="text-base font-medium text-ink">No run is needed: this span has no missed times.</p>
      ) : (
        <>
          <Amounts forecast={plan} />
          <p className="-mt-2 text-sm text-muted">
            <Time at={occurrences.first} />
            {occurrences.count > 1 && (
              <>
                {' to '}
                <Time at={occurrences.last} />
              </>
            )}
          </p>
        </>
      )}
      {left !== '' && <p className="text-sm text-muted">Left out: {left}.</p>}
      {nextFrom !== null && (
        <p className="text-sm text-muted">
          More missed times remain from <Time at={nextFrom} />: continue there afterwards.
        </p>
      )}
      {occurrences.count > 0 && <LimitList limits={limits} />}
    </div>
  );
}

function leftOutInWords({ alreadyRan, alreadyBackfilled, stillDue }: Plan['leftOut']): string {
  return [
    alreadyRan > 0 && `${alreadyRan} times that ran`,
    alreadyBackfilled > 0 && `${alreadyBackfilled} already made up for`,
    stillDue > 0 && `${stillDue} that the schedule is about to run`,
  ]
    .filter(Boolean)
    .join(', ');
}
