import { FlaskConical, PencilRuler } from 'lucide-react';
import { useDeferredValue, useState, type ReactNode } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { originInWords, pricesInWords } from '#ui/format/model-words.ts';
import { count, plural, shortCount } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { Menu } from '#ui/parts/menu.tsx';
import { useSourceNames } from '#ui/parts/model-source-names.ts';
import { Badge } from '#ui/parts/state.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { useMayWrite } from '#ui/shell/projects.ts';

type Option = Shape<'ModelOption'>;

export interface ModelsTableProps {
  readonly models: readonly Option[];
  readonly search: string;
  readonly onTest: (option: Option) => void;
  readonly onFigures: (option: Option) => void;
}

/** Number of rows drawn at first, because a server may list thousands. */
const SHOWN = 100;

/** Lists models with their figures, the source of each figure, and their abilities. */
export function ModelsTable({ models, search, onTest, onFigures }: ModelsTableProps) {
  const words = useDeferredValue(search).toLowerCase().split(/\s+/).filter(Boolean);
  const nameOfSource = useSourceNames();
  const mayWrite = useMayWrite();
  const [showsAll, setShowsAll] = useState(false);
  const found = models.filter((option) => {
    const text = `${option.name} ${option.modelId} ${nameOfSource(option)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const rows = showsAll ? found : found.slice(0, SHOWN);
  const columns: readonly Column<Option>[] = [
    {
      key: 'model',
      header: 'Model',
      cell: ({ name, modelId, ...option }) => (
        <span className="flex min-w-0 flex-col">
          <span className="truncate font-medium">{name}</span>
          <span className="truncate text-xs text-muted">
            {nameOfSource(option)}
            {name !== modelId && <code className="font-mono"> {modelId}</code>}
          </span>
        </span>
      ),
    },
    {
      key: 'window',
      header: 'Window',
      width: 'w-44',
      cell: ({ contextTokens, maxOutputTokens, figures }) => (
        <>
          <Figure origin={originInWords(figures.contextTokens)}>{tokens(contextTokens)}</Figure>
          {maxOutputTokens !== null && (
            <Figure origin={originInWords(figures.maxOutputTokens)}>{shortCount(maxOutputTokens)} of output</Figure>
          )}
        </>
      ),
    },
    {
      key: 'prices',
      header: 'Per million tokens',
      width: 'w-40',
      cell: (option) => (
        <Figure origin={originInWords(option.figures.prices)}>
          {option.prices === null ? 'unknown' : pricesInWords(option, true)}
        </Figure>
      ),
    },
    {
      key: 'abilities',
      header: 'Can',
      width: 'w-44',
      cell: ({ abilities }) => <Abilities abilities={abilities} />,
    },
  ];
  if (found.length === 0) {
    return <p className="py-6 text-base text-muted">No model has this name.</p>;
  }
  return (
    <>
      <DataTable
        label="Models"
        columns={columns}
        rows={rows}
        keyOf={({ connectionId, modelId }) => `${connectionId ?? ''} ${modelId}`}
        actionsWidth="w-12"
        actions={(option) => {
          const reason = reasonOf(option, mayWrite);
          return (
            <Menu
              label={`Actions for ${option.modelId}`}
              groups={[
                [
                  {
                    label: 'Test',
                    icon: FlaskConical,
                    onSelect: () => onTest(option),
                    disabledReason: reason,
                  },
                  {
                    label: 'Enter figures',
                    icon: PencilRuler,
                    onSelect: () => onFigures(option),
                    disabledReason: reason,
                  },
                ],
              ]}
            />
          );
        }}
      />
      <div className="mt-3 flex items-center gap-3 text-sm text-muted">
        <span role="status">{plural(found.length, 'model')}</span>
        {rows.length < found.length && (
          <Button size="sm" onClick={() => setShowsAll(true)}>
            Show all {count(found.length)}
          </Button>
        )}
      </div>
    </>
  );
}

function reasonOf({ source }: Option, mayWrite: boolean | undefined): string | undefined {
  if (source === null) return 'This model belongs to a personal account.';
  return mayWrite === false ? 'Only owners and admins can do this.' : undefined;
}

function tokens(value: number | null): string {
  return value === null ? 'unknown' : `${shortCount(value)} tokens`;
}

function Figure({ origin, children }: { readonly origin: string | undefined; readonly children: ReactNode }) {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="truncate tabular">{children}</span>
      {origin !== undefined && <span className="truncate text-xs text-faint">{origin}</span>}
    </span>
  );
}

const ABILITIES = [
  ['tools', 'Tools'],
  ['structuredOutputs', 'Typed results'],
] as const;

function Abilities({ abilities }: { readonly abilities: Option['abilities'] }) {
  const known = ABILITIES.filter(([name]) => abilities[name] !== null);
  if (known.length === 0) return <span>not known yet</span>;
  return (
    <span className="flex flex-wrap gap-1">
      {known.map(([name, label]) => (
        <Badge key={name} tone={abilities[name] === true ? 'good' : 'idle'}>
          {abilities[name] === true ? label : `No ${label.toLowerCase()}`}
        </Badge>
      ))}
    </span>
  );
}
