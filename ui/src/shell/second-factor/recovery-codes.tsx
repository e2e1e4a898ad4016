import { Download } from 'lucide-react';
import { useSession } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { download } from '#ui/parts/download.ts';
import { ShowOnce } from '#ui/parts/copy.tsx';

export interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** Shows recovery codes once, to copy and to download. */
export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps) {
  const { user } = useSession();
  const text = codes.join('\n');
  return (
    <ShowOnce
      open
      onClose={onClose}
      title="Your recovery codes"
      description="Each code signs you in once, if you lose the authenticator. The codes cannot be shown again: store them where you keep passwords, and not on the same device."
      secret={text}
      secretLabel="recovery codes"
    >
      <div>
        <Button
          size="sm"
          icon={Download}
          onClick={() => download('recovery-codes.txt', 'text/plain', `Recovery codes of ${user.email}\n\n${text}\n`)}
        >
          Download as text
        </Button>
      </div>
    </ShowOnce>
  );
}
