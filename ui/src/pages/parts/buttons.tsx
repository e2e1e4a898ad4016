import { Pause, Play, Trash2 } from 'lucide-react';
import { Button, ButtonLink, IconButton } from '#ui/parts/button.tsx';
import { Kbd } from '#ui/parts/kbd.tsx';
import { Section } from '#ui/parts/page.tsx';

/** Shows buttons of every kind, size and state. */
export function Buttons() {
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
