export { Ras, type RasOptions } from './client.ts';
export type { Call, Limits, Reply } from './call.ts';
export {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  KeyReusedError,
  NotFoundError,
  PermissionError,
  PlanError,
  PreconditionFailedError,
  RasError,
  RateLimitError,
  ServerError,
  TimeoutError,
  WebhookVerificationError,
} from './errors.ts';
export type { ErrorDetail } from './errors.ts';
export { ExactNumber, parseExact } from './exact.ts';
export type { FollowOptions, RunEvent, RunStateEvent, RunStepEvent, RunTextEvent, WaitOptions } from './follow.ts';
export type { ErrorCode } from './generated/operations.ts';
export type { Page, Pages } from './pages.ts';
export type {
  Body,
  CallOptions,
  ChangeOptions,
  PutOptions,
  ReadRunOptions,
  Connection,
  CreateOptions,
  Data,
  Item,
  Model,
  OperationId,
  Query,
  Routine,
  RoutineSummary,
  Run,
  RunResult,
  RunSummary,
  Shape,
  Skill,
  Step,
} from './types.ts';
export { webhooks, type SignedWebhook, type WebhookEvent, type WebhookHeaders } from './webhooks.ts';
