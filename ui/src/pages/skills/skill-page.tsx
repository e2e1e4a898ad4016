import { getRouteApi } from '@tanstack/react-router';
import { useRead } from '#ui/api/read.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { CuratedSkill } from './curated-skill.tsx';
import { CustomSkill } from './custom-skill.tsx';

const { useParams } = getRouteApi('/account/p/$projectId/skills/$skillId');

/** Shows a curated skill, or the editor of a custom one. */
export function SkillPage() {
  const { projectId, skillId } = useParams();
  const skill = useRead('/v1/skills/{skillId}', { path: { skillId } });
  return (
    <Await
      of={skill}
      errorTitle={skill.error?.status === 404 ? 'This skill does not exist' : COULD_NOT}
      header={
        <PageHeader
          title="Skill"
          back={{ label: 'Skills', link: { to: '/p/$projectId/skills', params: { projectId } } }}
        />
      }
      skeleton={<SkeletonText lines={8} />}
    >
      {(found) =>
        found.id === null ? (
          <CuratedSkill skill={found} slug={skillId} />
        ) : (
          <CustomSkill key={found.id} skill={found} id={found.id} />
        )
      }
    </Await>
  );
}

const COULD_NOT = 'The skill could not be read';
