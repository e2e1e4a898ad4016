import type { Shape } from '#ui/api/types.ts';

export interface ConnectProps {
  readonly provider: Shape<'ModelProvider'>;
  /** Signed in to again; a new account otherwise. */
  readonly account?: Shape<'ModelConnection'> | undefined;
  readonly onClose: () => void;
}
