import type { FieldErrors, Path, UseFormRegister } from 'react-hook-form';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';

/** A budget as typed texts; empty for no limit. */
export interface BudgetTexts {
  readonly tokens: string;
  readonly cost: string;
}

export interface Budget {
  readonly maxTokensPerDay: number | null;
  readonly maxCostUsdPerMonth: string | null;
}

export function budgetTexts(budget: Budget | undefined): BudgetTexts {
  return {
    tokens: budget?.maxTokensPerDay?.toString() ?? '',
    cost: budget?.maxCostUsdPerMonth ?? '',
  };
}

/** Reads the budget from its texts. A text that is not a number is sent unchanged, so that the server refuses it. */
export function budgetOf({ tokens, cost }: BudgetTexts): Budget {
  return {
    maxTokensPerDay: numberOf(tokens),
    maxCostUsdPerMonth: cost.trim() === '' ? null : cost.trim().replace(/^\$\s*/, ''),
  };
}

/** Reads "1,000,000" and "1 000 000"; null for an empty text. */
export function numberOf(text: string): number | null {
  const digits = text.replaceAll(/[\s,]/g, '');
  if (digits === '') return null;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server names the fault
  return /^-?\d+(\.\d+)?$/.test(digits) ? Number(digits) : (text as unknown as number);
}

/** Maps the server's names of fields to those of the form, if they differ. */
export const BUDGET_NAMES = {
  'budget.maxTokensPerDay': 'tokens',
  'budget.maxCostUsdPerMonth': 'cost',
} as const;

export interface BudgetFieldsProps<Values extends BudgetTexts> {
  readonly register: UseFormRegister<Values>;
  readonly errors: FieldErrors<BudgetTexts>;
}

/** Edits the two limits on the spending of all runs together. */
export function BudgetFields<Values extends BudgetTexts>({ register, errors }: BudgetFieldsProps<Values>) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label="Tokens a day" description="By calendar day (UTC)." error={errors.tokens?.message}>
        {/* oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every such form has both fields */}
        <Input {...register('tokens' as Path<Values>)} inputMode="numeric" placeholder="No limit" />
      </Field>
      <Field label="US dollars a month" description="By calendar month (UTC)." error={errors.cost?.message}>
        {/* oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every such form has both fields */}
        <Input {...register('cost' as Path<Values>)} inputMode="decimal" placeholder="No limit" />
      </Field>
    </div>
  );
}
