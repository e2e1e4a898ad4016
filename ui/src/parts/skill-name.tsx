import { useRead } from '#ui/api/read.ts';

/** Names a skill; shows its id until the name is read. */
export function SkillName({ id }: { readonly id: string }) {
  const skill = useRead('/v1/skills/{skillId}', { path: { skillId: id } }, { staleMs: 600_000 });
  return skill.data?.name ?? id;
}

/** Names skills in a line. */
export function SkillNames({ ids }: { readonly ids: readonly string[] }) {
  return ids.map((id, nth) => (
    <span key={id}>
      {nth > 0 && ', '}
      <SkillName id={id} />
    </span>
  ));
}
