import type { Core } from '#core/core.ts';
import type { ModelProviders, ModelRuntime } from '#core/models/providers/index.ts';
import type { FindServer } from './oauth/server.ts';

/** The core with what accounts at model providers are made of. */
export interface AccountsCore extends Core {
  readonly modelProviders: ModelProviders;
  /** Undefined where the configuration names none. */
  readonly modelRuntime: ModelRuntime | undefined;
  readonly findModelServer: FindServer;
}
