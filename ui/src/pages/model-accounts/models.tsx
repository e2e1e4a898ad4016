import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { shortCount } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';

/** Lists the models that an account offers, as its provider last said. */
export function ModelsDialog({
  account,
  onClose,
}: {
  readonly account: Shape<'ModelConnection'>;
  readonly onClose: () => void;
}) {
  const models = useRead('/v1/model-connections/{connectionId}/models', {
    path: { connectionId: account.id },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={`Models of ${account.accountLabel}`}
      description="Choose one of them when you edit a routine."
      actions={<Button onClick={onClose}>Close</Button>}
    >
      <Await
        of={models}
        skeleton={<SkeletonRows rows={4} />}
        errorTitle="The models could not be read"
      >
        {(rows) =>
          rows.length === 0 ? (
            <p className="text-base text-muted">The provider lists none for this account.</p>
          ) : (
            <ul className="flex flex-col">
              {rows.map(({ modelId, name, contextTokens }) => (
                <li
                  key={modelId}
                  className="flex items-baseline justify-between gap-4 border-b border-line py-2 text-sm last:border-b-0"
                >
                  <span className="min-w-0">
                    <span className="block text-ink wrap-anywhere">{name}</span>
                    {name !== modelId && (
                      <code className="font-mono text-xs text-muted wrap-anywhere">{modelId}</code>
                    )}
                  </span>
                  {contextTokens !== null && (
                    <span className="shrink-0 text-muted tabular">
                      {shortCount(contextTokens)} tokens
                    </span>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Await>
    </Dialog>
  );
}
