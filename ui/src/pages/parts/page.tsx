import { Archive, Pause, Play, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { toast } from '#ui/api/toast.ts';
import { Button, ButtonLink, IconButton } from '#ui/parts/button.tsx';
import { ShowOnce } from '#ui/parts/copy.tsx';
import { ConfirmByNameDialog, ConfirmDialog, Dialog } from '#ui/parts/dialog.tsx';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Kbd } from '#ui/parts/kbd.tsx';
import { Menu } from '#ui/parts/menu.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { Charts, Feedback, Fields, States, Tables, Texts } from './contents.tsx';
import { ERROR } from './samples.ts';

/** Shows every part in every state. No page leads here. */
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

function Overlays() {
  const [open, setOpen] = useState<'dialog' | 'confirm' | 'name' | 'once' | null>(null);
  const close = () => setOpen(null);
  return (
    <Section title="Overlays" boxed>
      <div className="flex flex-wrap items-center gap-2">
        <Button onClick={() => setOpen('dialog')}>Dialog</Button>
        <Button onClick={() => setOpen('confirm')}>Confirm</Button>
        <Button onClick={() => setOpen('name')}>Confirm by name</Button>
        <Button onClick={() => setOpen('once')}>Show once</Button>
        <Button onClick={() => toast.done('Routine paused')}>Toast</Button>
        <Button onClick={() => toast.failed(ERROR)}>Failed toast</Button>
        <Menu
          trigger={<Button>Menu</Button>}
          groups={[
            [
              { label: 'Run now', icon: Play, onSelect: () => undefined },
              {
                label: 'Pause',
                icon: Pause,
                onSelect: () => undefined,
                disabledReason: 'It is a draft.',
              },
            ],
            [{ label: 'Archive', icon: Archive, danger: true, onSelect: () => undefined }],
          ]}
        />
      </div>
      <Dialog
        open={open === 'dialog'}
        onClose={close}
        title="New project"
        description="Routines, runs, connections and API keys belong to one project."
        actions={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button kind="primary" onClick={close}>
              Create project
            </Button>
          </>
        }
      >
        <Field label="Name">
          <Input placeholder="Website" />
        </Field>
      </Dialog>
      <ConfirmDialog
        open={open === 'confirm'}
        onClose={close}
        onConfirm={close}
        title="Archive this routine?"
        description="It does not run any more. Its runs stay."
        action="Archive routine"
      />
      <ConfirmByNameDialog
        open={open === 'name'}
        onClose={close}
        onConfirm={close}
        name="Website"
        title="Delete this project?"
        description="Its API keys are revoked and its credentials erased at once. The content of its runs is erased later."
        action="Delete project"
      />
      <ShowOnce
        open={open === 'once'}
        onClose={close}
        title="Your API key"
        description="Store it now. It cannot be shown again."
        secret="ras_4fT0aXbq_7GvA1mUo2QeKc9hRr5LwZxNnB3yPdStE8iJfV6gHkMa"
        secretLabel="API key"
      />
    </Section>
  );
}
