import { useState } from 'react';
import { useAll } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Field } from '#ui/parts/field.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import { Select } from '#ui/parts/select.tsx';
import { RadioCards } from '#ui/parts/toggles.tsx';
import { keptProject } from '../last-project.ts';
import { isWriting, levelsFor, SCOPE_LABELS, type Level, type Scope } from './levels.ts';

interface Choice {
  /** Undefined until the projects are read, or without a project. */
  readonly project: Shape<'Project'> | undefined;
  readonly projects: readonly Shape<'Project'>[] | undefined;
  readonly organizations: readonly Shape<'Organization'>[];
  readonly levels: readonly Level[];
  /** Undefined when this person can give none of the requested scopes. */
  readonly level: Level | undefined;
  /** True for a member, who can give read access only. */
  readonly mayOnlyRead: boolean;
  readonly chooseProject: (id: string) => void;
  readonly chooseLevel: (value: Level['value']) => void;
}

/**
 * Keeps the choice of a person for a program: at first the last open project and the least access.
 * @param asked the scopes that the program asks for; no others are given
 */
export function useAccessChoice(asked?: readonly Scope[]): Choice {
  const { data: projects } = useAll('/v1/projects', { query: { limit: 200 } });
  const organizations = useAll('/v1/organizations', { query: { limit: 200 } });
  const [projectId, chooseProject] = useState(keptProject);
  const [chosen, chooseLevel] = useState<Level['value']>();
  const project = projects?.find(({ id }) => id === projectId) ?? projects?.[0];
  const role = organizations.data?.find(({ id }) => id === project?.organizationId)?.role;
  const mayOnlyRead = role === 'member';
  const levels = levelsFor(asked);
  const open = levels.filter((level) => !mayOnlyRead || !isWriting(level));
  return {
    project,
    projects,
    organizations: organizations.data ?? [],
    levels,
    level: open.find(({ value }) => value === chosen) ?? open[0],
    mayOnlyRead,
    chooseProject,
    chooseLevel,
  };
}

/** Says why a person cannot give access yet; undefined when they can. */
export function reasonAgainst({ project, level }: Pick<Choice, 'project' | 'level'>) {
  if (project === undefined) return 'Choose a project.';
  return level === undefined ? 'Only owners and admins can give this access.' : undefined;
}

/** Asks for the project and the level of access, and shows the scopes of the level. */
export function AccessChoice({ choice }: { readonly choice: Choice }) {
  const { projects, organizations, project, levels, level, mayOnlyRead } = choice;
  const nameOf = (id: string) => organizations.find((each) => each.id === id)?.name ?? '';
  return (
    <>
      <Field label="Project" description="The access is limited to this project.">
        <Select
          options={(projects ?? []).map(({ id, name, organizationId }) => ({
            value: id,
            label: name,
            hint: nameOf(organizationId),
          }))}
          value={project?.id ?? null}
          onChange={choice.chooseProject}
        />
      </Field>
      <div className="flex flex-col gap-1.5">
        <p className="text-sm font-medium text-ink">Access</p>
        <RadioCards
          label="Access"
          options={levels.map((each) => ({
            value: each.value,
            label: each.label,
            description: each.description,
            disabled: mayOnlyRead && isWriting(each),
          }))}
          value={level?.value ?? 'read'}
          onChange={choice.chooseLevel}
        />
        {mayOnlyRead && <p className="text-sm text-muted">Only owners and admins can give write access.</p>}
        {level !== undefined && <Scopes scopes={level.scopes} />}
      </div>
    </>
  );
}

function Scopes({ scopes }: Pick<Level, 'scopes'>) {
  return (
    <Fold className="px-0!" summary={<span className="text-sm text-muted">Exactly what this allows</span>}>
      <ul aria-label="Scopes" className="flex flex-col gap-1">
        {scopes.map((scope) => (
          <li key={scope} className="flex flex-wrap justify-between gap-x-4 text-sm">
            {SCOPE_LABELS[scope]}
            <code className="font-mono text-xs text-muted">{scope}</code>
          </li>
        ))}
      </ul>
    </Fold>
  );
}
