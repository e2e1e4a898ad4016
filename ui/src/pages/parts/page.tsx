import { Archive, Plus } from 'lucide-react';
import { Button } from '#ui/parts/button.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { Buttons } from './buttons.tsx';
import { Charts, States, Tables, Texts } from './contents.tsx';
import { Feedback } from './feedback.tsx';
import { Fields } from './fields.tsx';
import { Overlays } from './overlays.tsx';

/** Every part in every state, to look at; no page leads here. */
export function PartsPage() {
  return (
    <main className="mx-auto max-w-[72rem] px-4 py-8 sm:px-8">
      <PageHeader
        title="Parts"
        description="Everything that pages are made of, in all its states."
        badge={<Badge>Internal</Badge>}
        actions={
          <>
            <Button icon={Archive}>Secondary</Button>
            <Button kind="primary" icon={Plus}>
              Primary
            </Button>
          </>
        }
      />
      <Buttons />
      <Overlays />
      <Fields />
      <States />
      <Tables />
      <Texts />
      <Feedback />
      <Charts />
    </main>
  );
}
