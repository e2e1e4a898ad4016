interface KindOfRoutine {
  /** Orders to the model in the instructions. */
  readonly orders: string;
  /** Model steps that a run takes because of the orders. */
  readonly modelSteps: number;
  /** The tool that each run calls once, if it may call the tool at all. */
  readonly tool?: { readonly name: string; readonly repeatable: boolean };
}

/** The kinds of routines under load. */
export const KINDS = {
  quick: { modelSteps: 1, orders: '' },
  slow: { modelSteps: 1, orders: 'Take your time.' },
  refused: { modelSteps: 2, orders: 'CALL no_such_tool {}' },
  reading: {
    modelSteps: 2,
    orders: 'CALL lookup {"query": "{{run.id}}"}',
    tool: { name: 'lookup', repeatable: true },
  },
  sending: {
    modelSteps: 2,
    orders: 'CALL send_message {"to": "{{run.id}}"}',
    tool: { name: 'send_message', repeatable: false },
  },
} as const satisfies Readonly<Record<string, KindOfRoutine>>;
export type Kind = keyof typeof KINDS;

export function kindOf({ kinds }: Ledger, routineId: string): KindOfRoutine {
  return KINDS[kinds.get(routineId)!];
}

export interface AcceptedRun {
  readonly id: string;
  readonly key: string;
}

export interface PlantedOccurrence {
  readonly routineId: string;
  readonly at: Date;
  /** False if Postgres's response was lost, so the occurrence may or may not have been planted. */
  readonly certain: boolean;
}

/** Requests to the service and its responses, for the check of the invariants. */
export interface Ledger {
  /** Kinds by routine id. */
  readonly kinds: Map<string, Kind>;
  readonly accepted: AcceptedRun[];
  readonly planted: PlantedOccurrence[];
  /** Responses that no client may ever get. */
  readonly wrongAnswers: string[];
  /** Counts of the responses after which clients had to retry, by status and code. */
  readonly refusals: Map<string, number>;
}

export function emptyLedger(): Ledger {
  return {
    kinds: new Map(),
    accepted: [],
    planted: [],
    wrongAnswers: [],
    refusals: new Map(),
  };
}

export function anyRoutine({ kinds }: Ledger, random: () => number): string {
  const routines = [...kinds.keys()];
  return routines[Math.floor(random() * routines.length)]!;
}
