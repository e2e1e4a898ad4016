import { useRead } from '#ui/api/read.ts';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { RichText } from '#ui/parts/lazily.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';

/** Shows the text of an attached skill. */
export default function SkillPreview({
  reference,
  onClose,
}: {
  readonly reference: string | null;
  readonly onClose: () => void;
}) {
  return (
    <Dialog open={reference !== null} onClose={onClose} size="lg" title="Skill">
      {reference !== null && <SkillText reference={reference} />}
    </Dialog>
  );
}

export function SkillText({ reference }: { readonly reference: string }) {
  const skill = useRead('/v1/skills/{skillId}', { path: { skillId: reference } }, { staleMs: 60_000 });
  return (
    <Await of={skill} skeleton={<SkeletonText lines={8} />} errorTitle="The skill could not be read">
      {({ name, description, instructions }) => (
        <div>
          <p className="text-base font-semibold text-ink">{name}</p>
          {description !== null && <p className="mt-0.5 mb-3 text-muted">{description}</p>}
          <RichText text={instructions} />
        </div>
      )}
    </Await>
  );
}
