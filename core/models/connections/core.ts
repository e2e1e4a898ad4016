import type { Core } from '#core/core.ts';
import type { ModelProviders, ModelRuntime } from '#core/models/providers/index.ts';
import type { FindServer } from './oauth/server.ts';

/** The core with the parts that accounts at model providers use. */
export interface AccountsCore extends Core {
  readonly modelProviders: ModelProviders;
  /** The provider runtime; undefined if none is configured. */
  readonly modelRuntime: ModelRuntime | undefined;
  readonly findModelServer: FindServer;
}
