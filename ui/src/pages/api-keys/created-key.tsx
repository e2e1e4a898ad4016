import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { CodeBlock, ShowOnce } from '#ui/parts/copy.tsx';

export interface CreatedKeyProps {
  /** The plaintext, while it is shown. */
  readonly secret: string | undefined;
  /** The key that still works beside it. */
  readonly replaces: Shape<'ApiKey'> | undefined;
  readonly onClose: () => void;
}

/** Shows a new key once, with a line to try it. */
export function CreatedKey({ secret, replaces, onClose }: CreatedKeyProps) {
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const address = config.data?.publicUrl ?? globalThis.location.origin;
  return (
    <ShowOnce
      open={secret !== undefined}
      onClose={onClose}
      title="Your API key"
      description={[
        'Copy it now: only its hash is stored, and it cannot be shown again.',
        ...(replaces === undefined
          ? []
          : [
              `The old key, ${replaces.prefix}, still works: revoke it once nothing uses it any more.`,
            ]),
      ].join(' ')}
      secret={secret ?? ''}
      secretLabel="API key"
    >
      <div className="flex flex-col gap-1.5">
        <p className="text-sm text-muted">Try it:</p>
        <CodeBlock
          label="curl line"
          wrap
          maxHeight="none"
          code={`curl -H 'Authorization: Bearer ${secret ?? ''}' ${address}/v1/models`}
        />
      </div>
    </ShowOnce>
  );
}
