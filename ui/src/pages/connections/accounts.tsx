import { useRead } from '#ui/api/read.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { DataTable } from '#ui/parts/table.tsx';

/** Lists the sites, properties or workspaces that a connection can see, as the provider says now. */
export function Accounts({ connectionId }: { readonly connectionId: string }) {
  const accounts = useRead(
    '/v1/connections/{connectionId}/accounts',
    { path: { connectionId } },
    { staleMs: 300_000 },
  );
  return (
    <Await
      of={accounts}
      skeleton={<SkeletonRows rows={3} />}
      errorTitle="The accounts could not be read"
    >
      {(rows) =>
        rows.length === 0 ? (
          <p className="text-sm text-muted">The provider lists none for this sign-in.</p>
        ) : (
          <DataTable
            label="Accounts"
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { key: 'name', header: 'Name', cell: ({ name }) => name },
              {
                key: 'id',
                header: 'Id',
                cell: ({ id }) => <code className="font-mono text-xs wrap-anywhere">{id}</code>,
              },
            ]}
          />
        )
      }
    </Await>
  );
}
