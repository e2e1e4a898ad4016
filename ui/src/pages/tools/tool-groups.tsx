import { drawn } from '#ui/format/drawn.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Badge, Dot } from '#ui/parts/state.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { effectOf, GROUPS, isChanged, saysNothing } from './hints.ts';

type Policy = Shape<'ToolPolicy'>;

export interface ToolGroupsProps {
  readonly policies: readonly Policy[];
  readonly connectionOf: (policy: Policy) => Shape<'Connection'> | undefined;
  readonly onConfirm: (policy: Policy) => void;
  readonly onDisable: (policy: Policy) => void;
}

/** Groups tools by the claims of their servers. */
export function ToolGroups({ policies, connectionOf, onConfirm, onDisable }: ToolGroupsProps) {
  const groups = Map.groupBy(policies, effectOf);
  const columns: readonly Column<Policy>[] = [
    { key: 'name', header: 'Tool', width: 'w-60', cell: (policy) => <ToolName policy={policy} /> },
    {
      key: 'description',
      header: 'What the server says',
      bare: true,
      cell: ({ description }) => (
        <span className="line-clamp-2 text-sm wrap-anywhere" title={drawn(description ?? '') || undefined}>
          {description === null ? <span className="text-faint">Nothing</span> : drawn(description)}
        </span>
      ),
    },
    {
      key: 'connection',
      header: 'Connection',
      width: 'w-36',
      from: 'lg',
      cell: (policy) => <span className="block truncate">{connectionOf(policy)?.name ?? '…'}</span>,
    },
    {
      key: 'state',
      header: 'State',
      width: 'w-36',
      bare: true,
      cell: (policy) => <PolicyState policy={policy} />,
    },
  ];
  return GROUPS.map(({ effect, title, description }) => {
    const rows = groups.get(effect) ?? [];
    if (rows.length === 0) return null;
    return (
      <Section
        key={effect}
        title={
          <>
            {title} <span className="font-normal text-faint tabular">{rows.length}</span>
          </>
        }
        description={description}
      >
        <DataTable
          label={title}
          columns={columns}
          rows={rows.toSorted((a, b) => a.name.localeCompare(b.name))}
          keyOf={({ id }) => id}
          isDim={({ vanishedAt }) => vanishedAt !== null}
          actionsWidth="w-40"
          actions={(policy) => <Action policy={policy} onConfirm={onConfirm} onDisable={onDisable} />}
        />
      </Section>
    );
  });
}

function ToolName({ policy }: { readonly policy: Policy }) {
  return (
    <span className="flex min-w-0 flex-col">
      <code className="truncate font-mono text-sm max-sm:wrap-anywhere max-sm:whitespace-normal">
        {drawn(policy.name)}
      </code>
      {saysNothing(policy) && <span className="text-xs text-faint">No hints given</span>}
    </span>
  );
}

function PolicyState({ policy }: { readonly policy: Policy }) {
  const { state, vanishedAt, maxCallsPerRun, warnings } = policy;
  const leftOut = warnings.find(({ code }) => code === 'schema_left_out');
  if (vanishedAt !== null) {
    return <Badge title="The server no longer lists this tool.">Gone</Badge>;
  }
  if (isChanged(policy)) {
    return (
      <Badge tone="warn" title="The definition differs from the confirmed one, so runs do not call this tool.">
        <Dot tone="warn" />
        Changed
      </Badge>
    );
  }
  if (state === 'disabled') return <Badge>Off</Badge>;
  return (
    <span className="flex flex-wrap items-center gap-x-1.5">
      {state === 'hold' ? (
        <Badge tone="news" title="Each call waits for a person in the inbox, unless a standing rule lets it through.">
          <Dot tone="news" />
          Held
        </Badge>
      ) : (
        <Badge tone="good">
          <Dot tone="good" />
          Automatic
        </Badge>
      )}
      {leftOut !== undefined && (
        <Badge tone="warn" title={leftOut.message}>
          Checked in part
        </Badge>
      )}
      {maxCallsPerRun !== null && <span className="text-xs text-muted">{maxCallsPerRun} a run</span>}
    </span>
  );
}

function Action({
  policy,
  onConfirm,
  onDisable,
}: Pick<ToolGroupsProps, 'onConfirm' | 'onDisable'> & { readonly policy: Policy }) {
  if (policy.vanishedAt !== null) return null;
  const name = <span className="sr-only"> {policy.name}</span>;
  const isOn = policy.state !== 'disabled';
  const label = isChanged(policy) ? 'Review' : isOn ? 'Change' : 'Confirm';
  return (
    <>
      <Button kind={isOn ? 'quiet' : 'secondary'} size="sm" onClick={() => onConfirm(policy)}>
        {label}
        {name}
      </Button>
      {isOn && (
        <Button kind="quiet" size="sm" onClick={() => onDisable(policy)}>
          Disable{name}
        </Button>
      )}
    </>
  );
}
