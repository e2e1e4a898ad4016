import type { ModelConnectionRef } from '#core/model-connections/index.ts';
import type { OfferedTool } from '#core/tools/index.ts';

/** The model step for which a call on an account is made. */
export interface AccountStep {
  readonly provider: string;
  readonly connection: ModelConnectionRef;
  readonly runId: string;
  readonly index: number;
  readonly tools: readonly OfferedTool[];
  /** Milliseconds that the run has left. */
  readonly remainingMs: number;
}
