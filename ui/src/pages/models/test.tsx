import { errorInWords } from '#ui/api/form.ts';
import { useAsk } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { count, exactMoney, moneyInWords } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';

type Test = Shape<'ModelTest'>;

export interface TestDialogProps {
  readonly option: Shape<'ModelOption'>;
  readonly onClose: () => void;
}

/** Shows the price of a test, runs it, and shows the outcome of each check. */
export function TestDialog({ option: { modelId, name }, onClose }: TestDialogProps) {
  const body = { modelId, dryRun: true };
  const planned = useAsk('/v1/models/test', { body }, { staleMs: 60_000 });
  const test = useSend('post', '/v1/models/test', {
    refreshes: ['/v1/models', '/v1/usage'],
    showsError: true,
  });
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={`Test ${name}`}
      description="Sends three short requests to the model. The abilities that the test finds are stored for all routines."
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            kind="primary"
            busy={test.isSending}
            disabledReason={planned.data === undefined ? 'The costs of the test are not known yet.' : undefined}
            onClick={() => test.send({ body: { modelId, dryRun: false } })}
          >
            {test.data === undefined ? 'Test now' : 'Test again'}
          </Button>
        </>
      }
    >
      <Await of={planned} skeleton={<SkeletonText lines={4} />} errorTitle="The cost of a test could not be read">
        {(plan) => (
          <>
            <p className="text-base text-ink">{costsOf(plan)}</p>
            <ul className="flex flex-col" aria-busy={test.isSending} aria-live="polite">
              {(test.data ?? plan).checks.map((check) => (
                <li key={check.kind} className="flex flex-col gap-1 border-b border-line py-2.5 last:border-b-0">
                  <span className="flex items-baseline justify-between gap-3 text-base text-ink">
                    {KINDS[check.kind]}
                    <StateBadge state={test.isSending ? 'running' : check.state} />
                  </span>
                  {check.words !== null && (
                    <span className="text-sm text-muted wrap-anywhere">
                      {check.words}
                      {check.durationMs !== null && ` (${count(check.durationMs)} ms)`}
                    </span>
                  )}
                </li>
              ))}
            </ul>
            {test.data?.usage != null && (
              <p className="text-sm text-muted">
                It used {count(test.data.usage.totalTokens)} tokens
                {test.data.usage.costUsd !== null && `, ${moneyInWords(test.data.usage.costUsd)}`}. They count towards
                the budgets of the project and the organization.
              </p>
            )}
          </>
        )}
      </Await>
      <FormError message={errorInWords(test.error)} />
    </Dialog>
  );
}

const KINDS: Readonly<Record<Test['checks'][number]['kind'], string>> = {
  text: 'Writes a short text',
  tool: 'Calls a tool',
  schema: 'Follows a schema, for typed results',
};

function costsOf({ estimate: { inputTokens, outputTokens, costUsd } }: Test): string {
  const tokens = `${count(inputTokens + outputTokens)} tokens`;
  if (costUsd === null) return `The test uses at most ${tokens}; the prices of the model are not known.`;
  if (Number(costUsd) === 0) return `The test uses at most ${tokens}, and costs nothing.`;
  return `The test costs at most ${exactMoney(costUsd)}, for ${tokens}.`;
}
