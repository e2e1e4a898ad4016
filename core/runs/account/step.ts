import type { ModelConnectionRef } from '#core/model-connections/index.ts';
import type { OfferedTool } from '#core/tools/index.ts';

/** The model step that a call on an account is for. */
export interface AccountStep {
  readonly provider: string;
  readonly connection: ModelConnectionRef;
  readonly runId: string;
  readonly index: number;
  readonly tools: readonly OfferedTool[];
  /** Milliseconds that the run has left. */
  readonly remainingMs: number;
}
