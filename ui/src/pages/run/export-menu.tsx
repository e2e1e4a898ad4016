import { Braces, Download, FileText, Printer, Table } from 'lucide-react';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { csvOf, fileNameOf } from '#ui/format/exports.ts';
import { typedViewOf } from '#ui/format/typed-data.ts';
import { Button } from '#ui/parts/button.tsx';
import { download } from '#ui/parts/download.ts';
import { Menu } from '#ui/parts/menu.tsx';
import { json } from '#ui/format/json-text.ts';

/** Offers a result as a file, and on paper. */
export default function ExportMenu({ run }: { readonly run: Shape<'RunDetail'> }) {
  const { result, data, changes, routineId, routineName, routineRevision: revision } = run;
  const isTyped = data !== null && data !== undefined;
  const version = useRead(
    '/v1/routines/{routineId}/versions/{revision}',
    { path: { routineId, revision } },
    { staleMs: 600_000, enabled: isTyped },
  );
  const at = new Date(run.finishedAt ?? run.createdAt);
  const save = (extension: string, type: string, text: string) =>
    download(fileNameOf(routineName, at, extension), type, text);
  const saveTable = () => save('csv', 'text/csv', csvOf(typedViewOf(data, version.data?.resultSchema, changes)));
  return (
    <Menu
      label="Export"
      trigger={
        <Button size="sm" icon={Download}>
          Export
        </Button>
      }
      groups={[
        [
          ...(result === null
            ? []
            : [
                {
                  label: 'Markdown',
                  icon: FileText,
                  onSelect: () => save('md', 'text/markdown', result),
                },
              ]),
          ...(isTyped
            ? [
                {
                  label: 'Data as JSON',
                  icon: Braces,
                  onSelect: () => save('json', 'application/json', `${json(data)}\n`),
                },
                { label: 'Data as CSV', icon: Table, onSelect: saveTable },
              ]
            : []),
        ],
        // Print after the menu has closed, because an open menu would be on the paper.
        [
          {
            label: 'Print or save as PDF',
            icon: Printer,
            onSelect: () => void setTimeout(() => window.print(), 200),
          },
        ],
      ]}
    />
  );
}
