import { KeyRound, Plus, RefreshCw, Unplug } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useList, useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { useVerb, verb } from '#ui/api/verbs/verb.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button, IconButton } from '#ui/parts/button.tsx';
import { CodeBlock, ShowOnce } from '#ui/parts/copy.tsx';
import { Await, EmptyState, Notice } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';
import { CiSignIns } from './ci-sign-ins.tsx';

// The dialog is loaded when a person first opens it.
const NewKeyDialog = lazy(() => import('./new-key.tsx'));

type ApiKey = Shape<'ApiKey'>;

/** Lists the keys of the project; a new one is shown once. */
export function ApiKeysPage() {
  const keys = useList('/v1/api-keys', {}, { everyMs: 30_000 });
  const billing = useRead('/v1/billing', {}, { staleMs: 60_000 });
  const [isMaking, setMaking] = useState(false);
  const [replaced, setReplaced] = useState<ApiKey>();
  const [secret, setSecret] = useState<string>();
  const revoke = useVerb(REVOKE);
  const make = (replaces?: ApiKey) => {
    setReplaced(replaces);
    setMaking(true);
  };
  const create = (
    <Button kind="primary" icon={Plus} onClick={() => make()}>
      New API key
    </Button>
  );
  return (
    <>
      <PageHeader
        title="API keys"
        description="For programs that work with this project. Each key belongs to this project alone."
        actions={create}
      />
      {billing.data?.allowances.apiWrites === false && (
        <Notice className="mb-4">
          Keys can only read on the {billing.data.plan} plan. On pro and scale they can also write.
        </Notice>
      )}
      <Await of={keys} skeleton={<SkeletonRows />} errorTitle="The keys could not be read">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={KeyRound} title="No API keys yet" action={create}>
              A key lets a script or another service read runs and start routines.
            </EmptyState>
          ) : (
            <>
              <DataTable
                label="API keys"
                columns={COLUMNS}
                rows={rows}
                keyOf={({ id }) => id}
                actionsWidth="w-28"
                actions={(row) => (
                  <>
                    <IconButton icon={RefreshCw} label={`Replace ${row.name}`} size="sm" onClick={() => make(row)} />
                    <Button kind="quiet" size="sm" onClick={() => revoke.act(row)}>
                      Revoke
                      <span className="sr-only">
                        {' '}
                        {row.name}, {row.prefix}
                      </span>
                    </Button>
                  </>
                )}
              />
              <Pager list={keys} />
            </>
          )
        }
      </Await>
      <CiSignIns />
      <Suspense>
        {isMaking && <NewKeyDialog replaces={replaced} onClose={() => setMaking(false)} onCreated={setSecret} />}
      </Suspense>
      <CreatedKey secret={secret} replaces={replaced} onClose={() => setSecret(undefined)} />
    </>
  );
}

const COLUMNS: readonly Column<ApiKey>[] = [
  { key: 'name', header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span> },
  {
    key: 'prefix',
    header: 'Prefix',
    width: 'w-32',
    cell: ({ prefix }) => <code className="font-mono text-xs">{prefix}</code>,
  },
  {
    key: 'scopes',
    header: 'Scopes',
    width: 'w-24',
    cell: ({ scopes }) => (
      <span title={scopes.join(', ')}>
        {plural(scopes.length, 'scope')}
        <span className="sr-only">: {scopes.join(', ')}</span>
      </span>
    ),
  },
  {
    key: 'by',
    header: 'Made by',
    width: 'w-36',
    from: 'lg',
    cell: ({ createdBy }) => createdBy?.name ?? <span className="text-faint">Account deleted</span>,
  },
  {
    key: 'used',
    header: 'Last used',
    width: 'w-32',
    cell: ({ lastUsedAt }) =>
      lastUsedAt === null ? <span className="text-faint">Never</span> : <Time at={lastUsedAt} as="relative" />,
  },
  {
    key: 'expires',
    header: 'Stops working',
    width: 'w-32',
    from: 'md',
    cell: ({ expiresAt }) =>
      expiresAt === null ? <span className="text-faint">Never</span> : <Time at={expiresAt} as="relative" />,
  },
];

const REVOKE = verb<ApiKey>()('delete', '/v1/api-keys/{apiKeyId}', {
  label: 'Revoke',
  icon: Unplug,
  question: (apiKey) => ({
    title: `Revoke ${apiKey.name}?`,
    description: (
      <>
        <LastUse apiKey={apiKey} /> Programs that use it are refused from their next request on. This cannot be undone.
      </>
    ),
    action: 'Revoke key',
  }),
  input: ({ id }) => ({ path: { apiKeyId: id } }),
  changes: ['/v1/api-keys'],
  done: 'Key revoked',
});

/** Says when a key was last used, because revoking the key stops a program that still uses it. */
function LastUse({ apiKey: { prefix, lastUsedAt } }: { readonly apiKey: ApiKey }) {
  return lastUsedAt === null ? (
    `The key ${prefix} has never been used.`
  ) : (
    <>
      The key {prefix} was last used <Time at={lastUsedAt} as="relative" />.
    </>
  );
}

interface CreatedKeyProps {
  /** The plaintext of the key, while it is shown. */
  readonly secret: string | undefined;
  /** The older key that still works. */
  readonly replaces: Shape<'ApiKey'> | undefined;
  readonly onClose: () => void;
}

/** Shows a new key once, with a line to try it. */
function CreatedKey({ secret, replaces, onClose }: CreatedKeyProps) {
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const address = config.data?.publicUrl ?? globalThis.location.origin;
  return (
    <ShowOnce
      open={secret !== undefined}
      onClose={onClose}
      title="Your API key"
      description={[
        'Copy it now: only its hash is stored, and it cannot be shown again.',
        ...(replaces === undefined
          ? []
          : [`The old key, ${replaces.prefix}, still works: revoke it once no program uses it.`]),
      ].join(' ')}
      secret={secret ?? ''}
      secretLabel="API key"
    >
      <div className="flex flex-col gap-1.5">
        <p className="text-sm text-muted">Try it:</p>
        <CodeBlock
          label="curl line"
          wrap
          maxHeight="none"
          code={`curl -H 'Authorization: Bearer ${secret ?? ''}' ${address}/v1/models`}
        />
      </div>
    </ShowOnce>
  );
}
