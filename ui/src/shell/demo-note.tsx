import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { useMayWrite } from './projects.ts';

/** Says that the runs of this project are invented, and offers to remove it. */
export default function DemoNote({ project }: { readonly project: Shape<'Project'> }) {
  const { id: projectId, name } = project;
  const mayWrite = useMayWrite();
  const [isAsking, setAsking] = useState(false);
  const query = { state: 'active' as const, limit: 200 };
  const active = useRead('/v1/routines', { query }, { enabled: isAsking });
  const pause = useSend('post', '/v1/routines/{routineId}/pause', { showsError: true });
  const remove = useSend('delete', '/v1/projects/{projectId}', {
    showsError: true,
    // Load a new document, because everything read belongs to the removed project.
    onDone: () => location.assign('/'),
  });
  const removeAll = async () => {
    // Pause the routines first: only a project without active routines can be deleted.
    for (const { id } of active.data ?? []) await pause.sendAsync({ path: { routineId: id } });
    await remove.sendAsync({ path: { projectId }, query: { confirm: name } });
  };
  return (
    <aside
      aria-label="Demo"
      className="mt-10 flex flex-wrap items-center justify-between gap-x-6 gap-y-1 border-t border-line pt-3 text-sm text-muted print:hidden"
    >
      <p>Demo data: three routines with four weeks of made-up runs.</p>
      {mayWrite === true && (
        <Button size="sm" kind="quiet" className="-mx-2.5" onClick={() => setAsking(true)}>
          Remove the demo
        </Button>
      )}
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title="Remove the demo?"
        description={`The project ${name} is deleted with all its routines, runs and API keys. This cannot be undone. Then your own project opens.`}
        action="Remove the demo"
        busy={active.isPending || pause.isSending || remove.isSending || remove.data !== undefined}
        error={errorInWords(active.error ?? pause.error ?? remove.error)}
        // The dialog shows the error.
        onConfirm={() => void removeAll().catch(() => undefined)}
      />
    </aside>
  );
}
