import { useState } from 'react';
import { WebhookSecret } from '#ui/parts/lazily.tsx';
import { errorInWords } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';

export interface RotateSecretProps {
  readonly routineId: string;
  readonly onClose: () => void;
}

/** Replaces the webhook secret in two steps: first it explains the change, then it shows the new secret once. */
export default function RotateSecret({ routineId, onClose }: RotateSecretProps) {
  const [force, setForce] = useState(false);
  const rotate = useSend('post', '/v1/routines/{routineId}/webhook-secret', {
    refreshes: ['/v1/routines'],
    showsError: true,
  });
  const secret = rotate.data?.webhookSecret;
  if (secret != null) {
    return (
      <WebhookSecret
        open
        onClose={onClose}
        title="The new webhook secret"
        description="Give the secret to your receiver within 24 hours: until then deliveries are signed with the old secret too. The new secret cannot be shown again."
        secret={secret}
      />
    );
  }
  const inProgress = rotate.error?.code === 'rotation_in_progress';
  return (
    <Dialog
      open
      onClose={onClose}
      title="Replace the webhook secret?"
      description="For 24 hours each delivery carries two signatures, one by the new secret and one by the old, so that your receiver accepts every delivery while you change the secret. After that the old secret is no longer used."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={rotate.isSending}
            disabledReason={inProgress && !force ? 'The previous secret is still valid.' : undefined}
            onClick={() => rotate.send({ path: { routineId }, body: { force } })}
          >
            Replace secret
          </Button>
        </>
      }
    >
      <FormError message={secret === null ? LOST : errorInWords(rotate.error)} />
      {inProgress && (
        <Checkbox
          label="Drop the older secret at once"
          description="A receiver that still checks with the older secret refuses deliveries."
          checked={force}
          onChange={setForce}
        />
      )}
    </Dialog>
  );
}

const LOST = 'The secret was replaced, but the response that had the new one was lost. Replace the secret once more.';
