/** What a routine under load has its model do, and how many model steps a run of it therefore takes. */
export const KINDS = {
  quick: { modelSteps: 1, orders: '' },
  slow: { modelSteps: 1, orders: 'Take your time.' },
  tools: { modelSteps: 2, orders: 'CALL no_such_tool {}' },
} as const;
export type Kind = keyof typeof KINDS;

export interface AcceptedRun {
  readonly id: string;
  readonly key: string;
}

export interface PlantedOccurrence {
  readonly routineId: string;
  readonly at: Date;
  /** False when the answer of Postgres was lost, so that it may or may not have been planted. */
  readonly certain: boolean;
}

/** What was asked of the service and what it said, for the invariants to be held against. */
export interface Ledger {
  /** By routine id. */
  readonly kinds: Map<string, Kind>;
  readonly accepted: AcceptedRun[];
  readonly planted: PlantedOccurrence[];
  /** Answers that no client should ever have got. */
  readonly wrongAnswers: string[];
  /** How often clients had to ask again, by status and code; `no answer` when the connection broke. */
  readonly refusals: Map<string, number>;
}

export const emptyLedger = (): Ledger => ({
  kinds: new Map(),
  accepted: [],
  planted: [],
  wrongAnswers: [],
  refusals: new Map(),
});

export function anyRoutine({ kinds }: Ledger, random: () => number): string {
  const routines = [...kinds.keys()];
  return routines[Math.floor(random() * routines.length)]!;
}
