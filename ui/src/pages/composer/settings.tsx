import type { Shape } from '#ui/api/types.ts';
import { Gate } from './gate.tsx';
import { Limits } from './limits.tsx';
import { Results } from './results.tsx';
import { Timing } from './timing.tsx';
import { Told } from './told.tsx';

/** Edits the settings that most people leave as they are; loaded after the fields that they write. */
export default function Settings({
  routine,
}: {
  readonly routine: Shape<'RoutineDetail'> | undefined;
}) {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <Results />
      <Gate routineId={routine?.id} />
      <Limits />
      <Timing />
      <Told mailDelivery={routine?.mailDelivery} />
    </div>
  );
}
