import { limitInWords, RAISED_BY } from '#core/usage/index.ts';
import type { Forecast } from './forecast.ts';
import type { LimitForecast } from './limits.ts';

/** The limit that runs out first at p95, and the day. */
export interface FirstToRunOut {
  readonly limit: LimitForecast;
  readonly day: string;
}

/** Finds the limit that runs out first at p95, so that one run in twenty may cost more; undefined where none does. */
export function firstToRunOut({
  runs,
  limits,
}: Pick<Forecast, 'runs' | 'limits'>): FirstToRunOut | undefined {
  if (runs.count === 0) return undefined;
  const over = limits.flatMap((limit) => {
    const day = limit.runsOut?.p95 ?? null;
    return day === null ? [] : [{ limit, day }];
  });
  return over.toSorted((a, b) => a.day.localeCompare(b.day))[0];
}

/** Says which limit the forecast exceeds first, on which day, and who may raise it; undefined where it exceeds none. */
export function overLimit(forecast: Forecast): string | undefined {
  const first = firstToRunOut(forecast);
  if (first === undefined) return undefined;
  const { limit, day } = first;
  const unpriced = limit.name === 'maxCostUsdPerMonth' && forecast.perRun.pricing === 'unpriced';
  const happens = unpriced
    ? `refuses every run from ${day} on, because the model has no prices`
    : `runs out on ${day}: ${inWords(forecast, limit)}`;
  return `By its forecast, ${limitInWords(limit)} ${happens}. It can be raised by ${RAISED_BY[limit.scope]}.`;
}

function inWords({ runs, perRun, total }: Forecast, { name, used }: LimitForecast): string {
  const planned = `${runs.count} runs until ${runs.until.toISOString().slice(0, 10)}`;
  if (name === 'runsPerPeriod') {
    // The forecast's 30 days and the plan's period begin on different days.
    return `${planned}, some of which may fall into the next period, and ${used} of this period are used`;
  }
  const cost = name === 'maxCostUsdPerMonth';
  const [each, all] = cost
    ? [`${perRun.p95.costUsd} US dollars`, `${total.p95.costUsd} US dollars`]
    : [`${perRun.p95.tokens} tokens`, `${total.p95.tokens} tokens`];
  return `${planned} at ${each} each are ${all}, and ${used} of this ${cost ? 'month' : 'day'} are used`;
}
