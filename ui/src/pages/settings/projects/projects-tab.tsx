import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useList } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { ConfirmByNameDialog } from '#ui/parts/dialog.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Menu } from '#ui/parts/menu.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { DataTable, RowLink, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';
import NewProjectDialog from '#ui/shell/new-project.tsx';
import { mayChange, OfOrganization, type Organization } from '../of-organization.tsx';
import { ProjectDialog } from './project-dialog.tsx';

type Project = Shape<'Project'>;

export function ProjectsTab() {
  return <OfOrganization>{(organization) => <Projects organization={organization} />}</OfOrganization>;
}

function Projects({ organization }: { readonly organization: Organization }) {
  const openId = useProjectId();
  const navigate = useNavigate();
  const projects = useList('/v1/projects', { query: { organizationId: organization.id } });
  const [isMaking, setMaking] = useState(false);
  const [changed, setChanged] = useState<Project>();
  const [removed, setRemoved] = useState<Project>();
  const isAdmin = mayChange(organization);
  const create = isAdmin && (
    <Button kind="primary" size="sm" icon={Plus} onClick={() => setMaking(true)}>
      New project
    </Button>
  );
  return (
    <Section
      title="Projects"
      description={
        isAdmin
          ? 'Routines, runs, connections and API keys belong to one project.'
          : 'Only owners and admins of the organization can make and change projects.'
      }
      actions={create}
    >
      <Await of={projects} skeleton={<SkeletonRows rows={3} />} errorTitle="The projects could not be read">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No projects">Create a project to have a place for routines.</EmptyState>
          ) : (
            <>
              <DataTable
                label="Projects"
                columns={columnsFor(openId)}
                rows={rows}
                keyOf={({ id }) => id}
                actionsWidth="w-12"
                {...(isAdmin && {
                  actions: (project: Project) => (
                    <Menu
                      label={`Actions for ${project.name}`}
                      groups={[
                        [{ label: 'Settings', onSelect: () => setChanged(project) }],
                        [{ label: 'Delete', danger: true, onSelect: () => setRemoved(project) }],
                      ]}
                    />
                  ),
                })}
              />
              <Pager list={projects} />
            </>
          )
        }
      </Await>
      {isMaking && (
        <NewProjectDialog
          onClose={() => setMaking(false)}
          onCreated={(projectId) =>
            void navigate({
              to: '/p/$projectId/settings',
              params: { projectId },
              search: { tab: 'projects' },
            })
          }
        />
      )}
      {changed !== undefined && <ProjectDialog project={changed} onClose={() => setChanged(undefined)} />}
      <DeleteProject project={removed} onClose={() => setRemoved(undefined)} />
    </Section>
  );
}

function columnsFor(openId: string): readonly Column<Project>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      cell: ({ id, name }) => (
        <span className="flex items-center gap-2">
          <RowLink to="/p/$projectId" params={{ projectId: id }} className="truncate">
            {name}
          </RowLink>
          {id === openId && <Badge>Open</Badge>}
        </span>
      ),
    },
    {
      key: 'id',
      header: 'Id',
      width: 'w-72',
      from: 'md',
      cell: ({ id }) => <code className="font-mono text-xs">{id}</code>,
    },
    {
      key: 'created',
      header: 'Created',
      width: 'w-40',
      cell: ({ createdAt }) => <Time at={createdAt} as="relative" />,
    },
  ];
}

interface DeleteProjectProps {
  readonly project: Shape<'Project'> | undefined;
  readonly onClose: () => void;
}

function DeleteProject({ project, onClose }: DeleteProjectProps) {
  const openId = useProjectId();
  const close = () => {
    remove.reset();
    onClose();
  };
  const remove = useSend('delete', '/v1/projects/{projectId}', {
    refreshes: ['/v1/projects'],
    done: ({ name }) => `${name} was deleted`,
    showsError: true,
    onDone: ({ id }) => {
      // Load a new document when the open project is the deleted one.
      if (id === openId) location.assign('/');
      else close();
    },
  });
  if (project === undefined) return null;
  const { id, name } = project;
  return (
    <ConfirmByNameDialog
      open
      onClose={close}
      title={`Delete ${name}?`}
      description="All access to its routines, runs, connections and API keys ends at once, and runs under way are cancelled. Pause the active routines first. This cannot be undone."
      action="Delete project"
      name={name}
      busy={remove.isSending}
      error={errorInWords(remove.error)}
      onConfirm={() => remove.send({ path: { projectId: id }, query: { confirm: name } })}
    />
  );
}
