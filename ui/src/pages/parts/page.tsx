import { Archive, Pause, Play, Plus, Trash2 } from 'lucide-react';
import { Button, ButtonLink, IconButton } from '#ui/parts/button.tsx';
import { Kbd } from '#ui/parts/kbd.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { Badge } from '#ui/parts/state.tsx';
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

/** Shows buttons of every kind, size and state. */
function Buttons() {
  return (
    <Section title="Buttons" boxed>
      <div className="flex flex-wrap items-center gap-2">
        <Button kind="primary">Primary</Button>
        <Button>Secondary</Button>
        <Button kind="quiet">Quiet</Button>
        <Button kind="danger" icon={Trash2}>
          Danger
        </Button>
        <Button busy>Saving</Button>
        <Button disabledReason="Run it once first.">Activate</Button>
        <Button kind="primary" disabledReason="Run it once first.">
          Activate
        </Button>
        <Button size="sm" icon={Play}>
          Small
        </Button>
        <IconButton icon={Pause} label="Pause" />
        <IconButton icon={Play} label="Run now" kind="secondary" size="sm" />
        <ButtonLink to="/">Link</ButtonLink>
        <Kbd>G</Kbd>
      </div>
    </Section>
  );
}
