import { errorInWords } from '#ui/api/form.ts';
import { ProjectProvider } from '#ui/api/project.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { Box, KeyValue } from '#ui/parts/page.tsx';
import { AccessChoice, reasonAgainst, useAccessChoice } from '#ui/shell/access/choice.tsx';
import { AuthFrame } from '#ui/shell/auth-frame.tsx';

export interface ConsentProps {
  readonly asked: Shape<'AskedConsent'>;
  readonly oauthQuery: string;
  readonly onDecided: () => void;
}

/** Shows the assistant that asks for access, and its address. The person chooses a project and access, or denies. */
export function Consent(props: ConsentProps) {
  const { asked } = props;
  const { user } = useSession();
  const choice = useAccessChoice(asked.scopes);
  return (
    <AuthFrame
      title={`${asked.clientName} wants to act for you`}
      description={`As ${user.email}, in a project that you choose, until you revoke it.`}
    >
      <Box>
        <KeyValue
          narrow
          facts={[
            { label: 'Name', value: asked.clientName },
            {
              label: 'Leads to',
              value: <span className="font-mono font-medium">{asked.redirectHost}</span>,
            },
          ]}
        />
      </Box>
      {asked.isVerified ? (
        <p className="text-sm text-muted">The people who run this service have registered this assistant.</p>
      ) : (
        <Notice tone="warn">
          Unverified: this assistant registered itself, and could use any name. Go on only if you have just begun this
          in an assistant of your own, and know {asked.redirectHost}.
        </Notice>
      )}
      <AccessChoice choice={choice} />
      {choice.projects?.length === 0 && <FormError message="You belong to no project that the assistant could use." />}
      <ProjectProvider value={choice.project?.id}>
        <Buttons {...props} choice={choice} />
      </ProjectProvider>
    </AuthFrame>
  );
}

function Buttons({
  oauthQuery,
  onDecided,
  choice,
}: ConsentProps & { readonly choice: ReturnType<typeof useAccessChoice> }) {
  const goOn = ({ redirectTo }: Shape<'DecidedConsent'>) => {
    onDecided();
    location.assign(redirectTo);
  };
  const sending = { showsError: true, onDone: goOn, refreshes: ['/v1/assistants'] };
  const approve = useSend('post', '/v1/assistant-consents/approve', sending);
  const deny = useSend('post', '/v1/assistant-consents/deny', sending);
  const scopes = [...(choice.level?.scopes ?? [])];
  return (
    <>
      <FormError message={errorInWords(approve.error ?? deny.error)} />
      <div className="flex flex-wrap gap-2">
        <Button
          kind="primary"
          busy={approve.isSending}
          disabledReason={reasonAgainst(choice)}
          onClick={() => approve.send({ body: { oauthQuery, scopes } })}
        >
          Connect
        </Button>
        <Button busy={deny.isSending} onClick={() => deny.send({ body: { oauthQuery } })}>
          Deny
        </Button>
      </div>
    </>
  );
}
