import { getRouteApi, Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { useProjectId } from '#ui/api/project.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { FromTemplate } from './from-template.tsx';
import { TEMPLATES, type Template } from './templates.ts';

const route = getRouteApi('/account/p/$projectId/start');

/** Offers templates, so that a first routine takes less than a minute. */
export function StartPage() {
  const { template: chosen } = route.useSearch();
  const template = TEMPLATES.find(({ id }) => id === chosen);
  return template === undefined ? (
    <Choose />
  ) : (
    <FromTemplate key={template.id} template={template} />
  );
}

function Choose() {
  const projectId = useProjectId();
  return (
    <>
      <PageHeader
        title="Your first routine"
        description="Work that a model does again and again, on time. Choose one to see it run; everything can be changed afterwards."
        actions={
          <ButtonLink to="/p/$projectId/routines/new" params={{ projectId }}>
            Write your own
          </ButtonLink>
        }
      />
      <ul className="grid gap-3 sm:grid-cols-2">
        {TEMPLATES.map((template) => (
          <li key={template.id}>
            <TemplateCard template={template} projectId={projectId} />
          </li>
        ))}
      </ul>
    </>
  );
}

function TemplateCard({ template, projectId }: { template: Template; projectId: string }) {
  return (
    <Link
      to="/p/$projectId/start"
      params={{ projectId }}
      search={{ template: template.id }}
      className="group flex h-full flex-col rounded-lg border border-line bg-surface p-4 transition-colors duration-100 hover:border-edge"
    >
      <span className="flex items-center justify-between text-base font-semibold text-ink">
        {template.name}
        <ArrowRight aria-hidden className="size-4 text-faint group-hover:text-ink" />
      </span>
      <span className="mt-1 grow text-base text-muted">{template.promise}</span>
      <span className="mt-3 text-sm text-faint">Runs {template.scheduleInWords}</span>
    </Link>
  );
}
