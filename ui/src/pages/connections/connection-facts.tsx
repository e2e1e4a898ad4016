import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { Box, KeyValue, type Fact } from '#ui/parts/page.tsx';
import { Time } from '#ui/parts/time.tsx';
import { authText } from './words.ts';

type Connection = Shape<'Connection'>;

/** Says what a connection is: where it leads, as whom, and since when. */
export function ConnectionFacts({
  connection,
  provider,
}: {
  readonly connection: Connection;
  readonly provider: Shape<'ConnectionProvider'> | undefined;
}) {
  const { url, auth, accountLabel, scopes, server, createdAt, checkedAt } = connection;
  const facts: readonly (Fact | false)[] = [
    connection.provider !== null && {
      label: 'Service',
      value: provider?.name ?? connection.provider,
    },
    accountLabel !== null && { label: 'Account', value: accountLabel },
    url !== null && { label: 'Address', value: <code className="font-mono text-xs">{url}</code> },
    { label: 'Access', value: authText(auth) },
    server !== null && { label: 'Says of itself', value: drawn(serverText(server)) },
    scopes.length > 0 && {
      label: 'Allowed',
      value: <code className="font-mono text-xs">{scopes.join(' ')}</code>,
    },
    { label: 'Connected', value: <Time at={createdAt} /> },
    { label: 'Last checked', value: <Time at={checkedAt} as="relative" /> },
  ];
  return (
    <Box>
      <KeyValue facts={facts.filter((fact) => fact !== false)} />
    </Box>
  );
}

function serverText({ name, title, version, protocolVersion }: NonNullable<Connection['server']>) {
  return `${title ?? name} ${version}, MCP of ${protocolVersion}`;
}
