import { z } from 'zod';

/** The fields of a budget as a caller sets them. */
export const budgetFields = {
  maxTokensPerDay: z
    .number()
    .int()
    .min(1)
    .max(1_000_000_000_000)
    .nullable()
    .meta({ description: 'Input and output tokens of a calendar day (UTC); null for no limit.' }),
  maxCostUsdPerMonth: z
    .string()
    .regex(/^(?!0+(\.0+)?$)\d{1,9}(\.\d{1,10})?$/, 'a positive decimal string, like "25.00"')
    .nullable()
    .meta({ description: 'US dollars of a calendar month (UTC); null for no limit.' }),
};
