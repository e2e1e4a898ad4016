import { useState } from 'react';
import { useAll } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Field } from '#ui/parts/field.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import { Select } from '#ui/parts/select.tsx';
import { RadioCards } from '#ui/parts/toggles.tsx';
import { keptProject } from '../last-project.ts';
import { LEVELS, READ, SCOPE_LABELS, type Level, type Scope } from './levels.ts';

interface Choice {
  /** The project in which the program may act; undefined until the projects are read, or where there is none. */
  readonly projectId: string | undefined;
  readonly projects: readonly Shape<'Project'>[] | undefined;
  readonly level: Level;
  readonly scopes: readonly Scope[];
  /** True for a member, who can give read access only. */
  readonly mayOnlyRead: boolean;
  readonly organizations: readonly Shape<'Organization'>[];
  readonly chooseProject: (id: string) => void;
  readonly chooseLevel: (value: Level['value']) => void;
}

/**
 * Holds what a person chooses for a program: the project that was open last, at first, and to read.
 * @param asked the scopes that the program asks for; it never gets others
 */
export function useAccessChoice(asked?: readonly string[]): Choice {
  const projects = useAll('/v1/projects', { query: { limit: 200 } });
  const organizations = useAll('/v1/organizations', { query: { limit: 200 } });
  const [chosenId, chooseProject] = useState(keptProject);
  const [chosenLevel, chooseLevel] = useState<Level['value']>('read');
  const project = projects.data?.find(({ id }) => id === chosenId) ?? projects.data?.[0];
  const role = organizations.data?.find(({ id }) => id === project?.organizationId)?.role;
  const mayOnlyRead = role === 'member';
  const wanted = mayOnlyRead ? 'read' : chosenLevel;
  const level = LEVELS.find(({ value }) => value === wanted) ?? READ;
  return {
    projectId: project?.id,
    projects: projects.data,
    organizations: organizations.data ?? [],
    level,
    scopes: level.scopes.filter((scope) => asked === undefined || asked.includes(scope)),
    mayOnlyRead,
    chooseProject,
    chooseLevel,
  };
}

/** Asks for the project and the level of access, and shows what the level allows. */
export function AccessChoice({ choice }: { readonly choice: Choice }) {
  const { projects, organizations, projectId, level, scopes, mayOnlyRead } = choice;
  const nameOf = (id: string) => organizations.find((each) => each.id === id)?.name ?? '';
  return (
    <>
      <Field label="Project" description="It can reach this project and no other.">
        <Select
          options={(projects ?? []).map(({ id, name, organizationId }) => ({
            value: id,
            label: name,
            hint: nameOf(organizationId),
          }))}
          value={projectId ?? null}
          onChange={choice.chooseProject}
        />
      </Field>
      <div className="flex flex-col gap-1.5">
        <p className="text-sm font-medium text-ink">Access</p>
        <RadioCards
          label="Access"
          options={LEVELS.map(({ value, label, description }) => ({
            value,
            label,
            description,
            disabled: mayOnlyRead && value !== 'read',
          }))}
          value={level.value}
          onChange={choice.chooseLevel}
        />
        {mayOnlyRead && (
          <p className="text-sm text-muted">
            Access that changes things is given by owners and admins.
          </p>
        )}
        <Fold
          className="px-0!"
          summary={<span className="text-sm text-muted">Exactly what this allows</span>}
        >
          <ul aria-label="Scopes" className="flex flex-col gap-1">
            {scopes.map((scope) => (
              <li key={scope} className="flex flex-wrap justify-between gap-x-4 text-sm">
                {SCOPE_LABELS[scope]}
                <code className="font-mono text-xs text-muted">{scope}</code>
              </li>
            ))}
          </ul>
        </Fold>
      </div>
    </>
  );
}
