import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { ProjectProvider } from '#ui/api/project.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { Box, KeyValue } from '#ui/parts/page.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { AccessChoice, reasonAgainst, useAccessChoice } from '#ui/shell/access/choice.tsx';
import { AuthFrame } from '#ui/shell/auth-frame.tsx';

/** The decision of the person. Without a project the person denied access. */
export interface Decision {
  readonly host: string;
  readonly project: { readonly id: string; readonly name: string } | undefined;
}

export interface ApproveProps {
  readonly terminal: Shape<'TerminalSignIn'>;
  readonly userCode: string;
  readonly onDecided: (decision: Decision) => void;
}

/** Shows the terminal that asks, its place and time, and lets the person approve or deny. */
export function Approve({ terminal, userCode, onDecided }: ApproveProps) {
  const { user } = useSession();
  const choice = useAccessChoice();
  return (
    <AuthFrame title="A terminal wants to sign in as you" description={<>The terminal would act as {user.email}.</>}>
      <Box>
        <KeyValue
          narrow
          facts={[
            {
              label: 'Code',
              value: <span className="font-mono font-medium">{written(userCode)}</span>,
            },
            { label: 'Calls itself', value: terminal.host },
            { label: 'Address', value: terminal.address },
            {
              label: 'Asked',
              value: (
                <>
                  <Time at={terminal.createdAt} as="relative" />, <Time at={terminal.createdAt} />
                </>
              ),
            },
          ]}
        />
      </Box>
      <Notice tone="warn">
        Confirm only a code that your own terminal shows now. If another person sent you this link or code, deny it:
        that person would get a key to your project.
      </Notice>
      <AccessChoice choice={choice} />
      {choice.projects?.length === 0 && <FormError message="You belong to no project that the terminal could use." />}
      <ProjectProvider value={choice.project?.id}>
        <Buttons {...{ terminal, userCode, onDecided, choice }} />
      </ProjectProvider>
    </AuthFrame>
  );
}

function Buttons({
  terminal: { host },
  userCode,
  onDecided,
  choice,
}: ApproveProps & { readonly choice: ReturnType<typeof useAccessChoice> }) {
  const [isMine, setMine] = useState(false);
  const { project, level } = choice;
  const approve = useSend('post', '/v1/terminal-sign-ins/{userCode}/approve', {
    showsError: true,
    refreshes: ['/v1/api-keys'],
    onDone: () => onDecided({ host, project }),
  });
  const deny = useSend('post', '/v1/terminal-sign-ins/{userCode}/deny', {
    showsError: true,
    onDone: () => onDecided({ host, project: undefined }),
  });
  const path = { userCode };
  return (
    <>
      <Checkbox
        label={`My own terminal shows ${written(userCode)}`}
        description="I began this sign-in myself, a moment ago."
        checked={isMine}
        onChange={setMine}
      />
      <FormError message={errorInWords(approve.error ?? deny.error)} />
      <div className="flex flex-wrap gap-2">
        <Button
          kind="primary"
          busy={approve.isSending}
          disabledReason={reasonAgainst(choice) ?? (isMine ? undefined : 'Compare the code with your terminal first.')}
          onClick={() => approve.send({ path, body: { scopes: [...(level?.scopes ?? [])] } })}
        >
          Sign in this terminal
        </Button>
        <Button busy={deny.isSending} onClick={() => deny.send({ path })}>
          Deny
        </Button>
      </div>
      <p className="text-sm text-muted">The terminal gets an API key for 90 days. You can revoke it at any time.</p>
    </>
  );
}

/** Formats a typed code as the terminal shows it. */
function written(userCode: string): string {
  const letters = userCode.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}
