import { useQueryClient } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { Button } from '#ui/parts/button.tsx';
import { EmptyState } from '#ui/parts/feedback.tsx';
import AddDialog from './add-dialog.tsx';

/** Leads a person to the second factor that the organization of this project demands. */
export default function FactorDemanded() {
  const client = useQueryClient();
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <EmptyState
        icon={ShieldCheck}
        title="This organization requires a second factor"
        action={
          <Button kind="primary" onClick={() => setAdding(true)}>
            Add a second factor
          </Button>
        }
      >
        The owner wants everybody to sign in with a code in addition to the password. Setting up an authenticator app
        takes a minute, and this page opens.
      </EmptyState>
      {isAdding && (
        <AddDialog
          onClose={() => {
            setAdding(false);
            void client.invalidateQueries();
          }}
        />
      )}
    </>
  );
}
