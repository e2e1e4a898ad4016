import type { Shape } from '#ui/api/types.ts';

export interface ConnectProps {
  readonly provider: Shape<'ModelProvider'>;
  /** Account to sign in to again; left out for a new one. */
  readonly account?: Shape<'ModelConnection'> | undefined;
  readonly onClose: () => void;
}
