import { CodeBlock, ShowOnce, type ShowOnceProps } from './copy.tsx';

const VERIFICATION = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
// Throws unless the body, as it came, was signed with the secret.
const event = webhook.verify(body, request.headers);`;

export type WebhookSecretProps = Pick<ShowOnceProps, 'open' | 'onClose' | 'title' | 'description' | 'secret'>;

/** Shows the secret of a routine's webhook once, with code by which a receiver verifies deliveries. */
export default function WebhookSecretDialog(props: WebhookSecretProps) {
  return (
    <ShowOnce {...props} secretLabel="webhook secret">
      <div className="flex flex-col gap-1.5">
        <p className="text-sm text-muted">
          Verify deliveries with this secret. Standard Webhooks has libraries for most languages; docs/webhooks.md shows
          Python and Go too, with the headers and the retries:
        </p>
        <CodeBlock label="verification" wrap maxHeight="none" code={VERIFICATION} />
      </div>
    </ShowOnce>
  );
}
