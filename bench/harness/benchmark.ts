import type { Figure } from './figures.ts';
import type { Service } from './service.ts';
import type { Stack } from './stack.ts';

/** A benchmark; each file in `bench/` exports one as its default. */
export interface Benchmark {
  /** Says in a sentence what is measured against what. */
  readonly about: string;
  run(bench: Bench): Promise<Figure[]>;
}

export interface Bench {
  readonly stack: Stack;
  /** Asks for the full size, however long it takes. */
  readonly long: boolean;
  /** The service that benchmarks share when they leave it as they found it, started on first use. */
  readonly service: () => Promise<Service>;
  /** Keeps a remark beside the figures: a query plan, what a number consists of. */
  readonly note: (text: string) => void;
}
