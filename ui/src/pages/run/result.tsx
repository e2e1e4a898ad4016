import { Link2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { json, jsonIn, unfenced } from '#ui/format/json-text.ts';
import { isOver } from '#ui/format/run-words.ts';
import { Button } from '#ui/parts/button.tsx';
import { CopyButton } from '#ui/parts/copy.tsx';
import { Lazily, RichText } from '#ui/parts/lazily.tsx';
import { Box, Section } from '#ui/parts/page.tsx';
import { PlainText } from '#ui/parts/plain-text.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { ChangeLines, Comparison, TruncatedLine, useAllChanges, type AllChanges } from './changes.tsx';
// oxlint-disable-next-line import/no-unassigned-import -- a style sheet
import './print.css';

type RunDetail = Shape<'RunDetail'>;

// These parts load when they are needed, because few results need them.
const ExportMenu = lazy(() => import('./export-menu.tsx'));
const ShareDialog = lazy(() => import('./share.tsx'));
const KeyedData = lazy(() => import('./keyed-data.tsx'));

/** Shows the result of a run: its text as a document, its data as tables. Each can also be shown unformatted and downloaded. */
export function Result({ run }: { readonly run: RunDetail }) {
  const { result, data } = run;
  const isTyped = data !== null && data !== undefined;
  const written = result === null ? undefined : jsonIn(unfenced(result));
  if (result === null && !isTyped) return null;
  return (
    <>
      {result !== null && !(isTyped && written !== undefined) && (
        <Text run={run} text={result} isJson={written !== undefined} isAlone={!isTyped} />
      )}
      {isTyped && <Data run={run} data={data} isAlone={written !== undefined} />}
    </>
  );
}

interface TextProps {
  readonly run: RunDetail;
  readonly text: string;
  readonly isJson: boolean;
  readonly isAlone: boolean;
}

function Text({ run, text, isJson, isAlone }: TextProps) {
  const [isRaw, setRaw] = useState(false);
  return (
    <Section
      title="Result"
      className="first:mt-6"
      actions={<Views run={run} text={text} isRaw={isRaw} onRaw={setRaw} hasExport={isAlone} />}
    >
      {isRaw ? (
        <PlainText text={text} label="result" />
      ) : isJson ? (
        <PlainText text={json(jsonIn(unfenced(text)))} label="result" />
      ) : (
        <Box className="px-5 py-4">
          <RichText text={text} outlined />
        </Box>
      )}
    </Section>
  );
}

interface DataProps {
  readonly run: RunDetail;
  readonly data: unknown;
  /** Set when the result consists only of this data, without text. */
  readonly isAlone: boolean;
}

function Data({ run, data, isAlone }: DataProps) {
  const [isRaw, setRaw] = useState(false);
  const { changes } = run;
  const all = useAllChanges(run.id, changes);
  const isKeyed = changes?.by != null;
  return (
    <Section
      title={isAlone ? 'Result' : 'Data'}
      {...(changes === null ? {} : { description: <Comparison changes={changes} /> })}
      actions={
        <Views
          run={run}
          text={isAlone && run.result !== null ? run.result : json(data)}
          isRaw={isRaw}
          onRaw={setRaw}
          hasExport
        />
      }
    >
      {isRaw ? (
        <PlainText text={json(data)} label="result" />
      ) : (
        <Lazily skeleton={<SkeletonRows rows={4} />}>
          <KeyedData
            run={run}
            data={data}
            schema={run.resultSchema}
            changes={marksOf(all.changes, changes?.against === null)}
          />
        </Lazily>
      )}
      {changes !== null && (
        <ul className="mt-3 rounded-lg border border-line bg-surface empty:hidden print:hidden">
          {isKeyed ? (
            changes.against !== null && <TruncatedLine all={all} changes={changes} />
          ) : (
            <ChangeLines changes={all.changes ?? changes} />
          )}
        </ul>
      )}
    </Section>
  );
}

/** Returns the changes to mark. A first result has no marks, because every row would be new. */
function marksOf(changes: AllChanges['changes'], isFirst: boolean): AllChanges['changes'] {
  return changes !== null && isFirst ? { ...changes, added: [] } : changes;
}

interface ViewsProps {
  readonly run: RunDetail;
  readonly text: string;
  readonly isRaw: boolean;
  readonly onRaw: (isRaw: boolean) => void;
  readonly hasExport: boolean;
}

function Views({ run, text, isRaw, onRaw, hasExport }: ViewsProps) {
  const [isSharing, setSharing] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-2 print:hidden">
      <Button size="sm" onClick={() => onRaw(!isRaw)}>
        {isRaw ? 'Formatted' : 'As written'}
      </Button>
      <CopyButton text={text} label="Copy" />
      {hasExport && (
        <>
          <Suspense
            fallback={
              <Button size="sm" busy>
                Export
              </Button>
            }
          >
            <ExportMenu run={run} />
          </Suspense>
          {run.result !== null && isOver(run) && (
            <Button size="sm" icon={Link2} onClick={() => setSharing(true)}>
              Share
            </Button>
          )}
          {isSharing && (
            <Suspense>
              <ShareDialog runId={run.id} onClose={() => setSharing(false)} />
            </Suspense>
          )}
        </>
      )}
    </div>
  );
}
