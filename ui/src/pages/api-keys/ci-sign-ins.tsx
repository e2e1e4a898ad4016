import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useList } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';

const NewCiSignIn = lazy(() => import('./new-ci-sign-in.tsx'));

type CiTrust = Shape<'CiTrust'>;

/** Lists the CI systems whose jobs get a key for an hour without a secret. */
export function CiSignIns() {
  const trusts = useList('/v1/ci-trusts', {});
  const [isMaking, setMaking] = useState(false);
  const [ended, setEnded] = useState<CiTrust>();
  return (
    <Section
      className="mt-10"
      title="Sign-in of CI jobs"
      description="A job of GitHub Actions, GitLab or another CI system shows its ID token, and receives a key that works for an hour. No secret is kept in the CI system."
      actions={
        <Button icon={Plus} onClick={() => setMaking(true)}>
          New CI sign-in
        </Button>
      }
    >
      <Await of={trusts} skeleton={<SkeletonRows />} errorTitle="The CI sign-ins could not be read">
        {(rows) =>
          rows.length > 0 && (
            <>
              <DataTable
                label="CI sign-ins"
                columns={COLUMNS}
                rows={rows}
                keyOf={({ id }) => id}
                actionsWidth="w-20"
                actions={(row) => (
                  <Button kind="quiet" size="sm" onClick={() => setEnded(row)}>
                    End<span className="sr-only"> {row.name}</span>
                  </Button>
                )}
              />
              <Pager list={trusts} />
            </>
          )
        }
      </Await>
      <Suspense>{isMaking && <NewCiSignIn onClose={() => setMaking(false)} />}</Suspense>
      <End trust={ended} onClose={() => setEnded(undefined)} />
    </Section>
  );
}

const COLUMNS: readonly Column<CiTrust>[] = [
  { key: 'name', header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span> },
  {
    key: 'subject',
    header: 'Subject',
    cell: ({ subjectPattern, issuer }) => (
      <span className="flex flex-col">
        <code className="font-mono text-xs wrap-anywhere">{subjectPattern}</code>
        <span className="text-xs text-muted wrap-anywhere">{issuer}</span>
      </span>
    ),
  },
  {
    key: 'scopes',
    header: 'Scopes',
    width: 'w-24',
    cell: ({ scopes }) => <span title={scopes.join(', ')}>{plural(scopes.length, 'scope')}</span>,
  },
  { key: 'by', header: 'Made by', width: 'w-36', from: 'lg', cell: ({ createdBy }) => createdBy.name },
];

function End({ trust, onClose }: { readonly trust: CiTrust | undefined; readonly onClose: () => void }) {
  const end = useSend('delete', '/v1/ci-trusts/{ciTrustId}', {
    refreshes: ['/v1/ci-trusts', '/v1/api-keys'],
    done: 'CI sign-in ended',
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open={trust !== undefined}
      onClose={onClose}
      title={`End ${trust?.name ?? 'the CI sign-in'}?`}
      description="CI jobs get no new keys through this sign-in. Requests with the keys that they have are refused."
      action="End CI sign-in"
      busy={end.isSending}
      onConfirm={() => {
        if (trust !== undefined) end.send({ path: { ciTrustId: trust.id } });
      }}
    />
  );
}
