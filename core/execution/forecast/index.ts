export { activateWithForecast, firstToRunOut, overLimit, warnOfForecast } from './activate.ts';
export {
  ESTIMATE_BASES,
  ESTIMATE_PRICINGS,
  estimateRun,
  findQuoted,
  mostOfRun,
  type Amount,
  type RunEstimate,
} from './estimate.ts';
export { forecastDraft, forecastOf, readForecast, type Forecast, type ForecastDeps } from './forecast.ts';
export { FORECAST_DAYS, plannedToday } from './planned-runs.ts';
export { medianOfVersion } from './version-usage.ts';
