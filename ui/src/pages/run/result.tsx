import { useState } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { CodeBlock, CopyButton } from '#ui/parts/copy.tsx';
import { Box, Section } from '#ui/parts/page.tsx';
import { RichText } from '#ui/parts/rich-text.tsx';
import { json, jsonIn } from './json.ts';

type View = 'text' | 'raw';

/** Shows the result of a run: formatted, as it was written, and to copy or download. */
export function Result({ run }: { readonly run: Shape<'RunDetail'> }) {
  const [view, setView] = useState<View>('text');
  const { result } = run;
  if (result === null) return null;
  const value = jsonIn(result);
  return (
    <Section
      title="Result"
      className="first:mt-6"
      actions={
        <>
          <Button size="sm" onClick={() => setView(view === 'raw' ? 'text' : 'raw')}>
            {view === 'raw' ? 'Formatted' : 'As written'}
          </Button>
          <CopyButton text={result} label="Copy" />
        </>
      }
    >
      {view === 'raw' ? (
        <CodeBlock code={result} label="result" wrap maxHeight="none" />
      ) : value !== undefined ? (
        <CodeBlock code={json(value)} label="result" wrap />
      ) : (
        <Box className="px-5 py-4">
          <RichText text={result} />
        </Box>
      )}
    </Section>
  );
}
