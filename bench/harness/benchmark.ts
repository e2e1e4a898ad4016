import type { Figure } from './figures.ts';
import type { Service } from './service.ts';
import type { Stack } from './stack.ts';

/** One file in `bench/` exports one of these as its default. */
export interface Benchmark {
  /** What it measures against what, in a sentence. */
  readonly about: string;
  run(bench: Bench): Promise<Figure[]>;
}

export interface Bench {
  readonly stack: Stack;
  /** Measure at full size, however long it takes. */
  readonly long: boolean;
  /** The service that benchmarks share when they leave it as they found it, started on first use. */
  readonly service: () => Promise<Service>;
  /** Keeps a remark beside the figures: a query plan, what a number consists of. */
  readonly note: (text: string) => void;
}
