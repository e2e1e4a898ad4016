import type { Shape } from '#ui/api/types.ts';
import { count } from '#ui/format/numbers.ts';

export type AuditEvent = Shape<'AuditEvent'>;
export type Action = AuditEvent['action'];

/** Every recorded kind of change, in the past tense, for the log and its filter. */
const ACTIONS: Readonly<Record<Action, string>> = {
  'organization.created': 'Organization created',
  'organization.renamed': 'Organization renamed',
  'organization.deleted': 'Organization deleted',
  'organization.second_factor_set': 'Requirement of a second factor changed',
  'project.created': 'Project created',
  'project.renamed': 'Project renamed',
  'project.deleted': 'Project deleted',
  'member.joined': 'Member joined',
  'member.role_changed': 'Role changed',
  'member.removed': 'Member removed',
  'member.left': 'Member left',
  'member.sessions_ended': 'Sessions of a member ended',
  'member.second_factor_added': 'Second factor added',
  'member.second_factor_removed': 'Second factor removed',
  'member.recovery_code_used': 'Recovery code used',
  'member.recovery_codes_replaced': 'Recovery codes replaced',
  'member.passkey_added': 'Passkey added',
  'member.passkey_removed': 'Passkey removed',
  'invitation.created': 'Invitation sent',
  'invitation.deleted': 'Invitation taken back',
  'api_key.created': 'API key made',
  'api_key.revoked': 'API key revoked',
  'assistant.approved': 'Assistant approved',
  'assistant.connected': 'Assistant connected',
  'assistant.disconnected': 'Assistant disconnected',
  'mcp.switched': 'MCP switched on or off',
  'sharing.switched': 'Links to results switched on or off',
  'connection.created': 'Connection made',
  'connection.changed': 'Connection changed',
  'connection.deleted': 'Connection deleted',
  'model_connection.created': 'Model account connected',
  'model_connection.changed': 'Model account signed in again',
  'model_connection.revoked': 'Model account revoked',
  'model_figures.changed': 'Figures of a model entered',
  'policy.changed': 'Tool policy changed',
  'tool_rule.created': 'Standing rule added to a tool',
  'tool_rule.revoked': 'Standing rule of a tool revoked',
  'budget.changed': 'Budget changed',
  'retention.changed': 'Retention of runs changed',
  'notifications.changed': 'Notifications changed',
  'plan.changed': 'Plan changed',
  'routine.changed': 'Routine changed',
  'routine.activated': 'Routine activated',
  'routine.deactivated': 'Routine taken off its schedule by a change',
  'routine.paused': 'Routine paused',
  'routine.archived': 'Routine archived',
  'ci_trust.created': 'CI sign-in created',
  'ci_trust.deleted': 'CI sign-in deleted',
  'routine.restored': 'Routine restored',
  'facts.changed': 'Project facts changed',
  'skill.created': 'Created a skill',
  'skill.changed': 'Changed a skill',
  'skill.deleted': 'Deleted a skill',
  'routine.skills_updated': 'Had a routine use newer skill texts',
  'routine.facts_updated': 'Had a routine use newer project facts',
  'routine.backfilled': 'Ran a routine for past times',
  'webhook.changed': 'Webhook changed',
  'webhook_secret.rotated': 'Webhook secret replaced',
  'success_ping.changed': 'Ping changed',
  'run.judged': 'Result judged',
  'result.shared': 'Link to a result made',
  'result.unshared': 'Link to a result ended',
  'action.approved': 'Held call approved',
  'action.rejected': 'Held call rejected',
  'question.answered': 'Question of a run answered',
  'results_to.changed': 'Who gets the results changed',
  'chat.created': 'Chat added',
  'chat.changed': 'Chat changed',
  'chat.deleted': 'Chat deleted',
  'run.pinned': 'Run pinned',
  'run.unpinned': 'Run unpinned',
};

export const ACTION_CHOICES = Object.entries(ACTIONS).map(([value, label]) => ({ value, label }));

export function actionName(action: Action): string {
  return ACTIONS[action];
}

/** Details that repeat other columns, or are only ids. */
const HIDDEN: ReadonlySet<string> = new Set(['invitationId', 'runId']);

/** Phrases of the details. A detail without a phrase is shown by its own name. */
const PHRASES: Readonly<Record<string, (value: string) => string>> = {
  name: (value) => value,
  email: (value) => value,
  role: (value) => `as ${value}`,
  from: (value) => `from ${value}`,
  on: (value) => `on ${value}`,
  to: (value) => `to ${value}`,
  contextTokens: (value) => `context window: ${value}`,
  maxOutputTokens: (value) => `output limit: ${value}`,
  inputPrice: (value) => `input, dollars a token: ${value}`,
  outputPrice: (value) => `output, dollars a token: ${value}`,
  maxTokensPerDay: (value) => `tokens a day: ${value}`,
  maxCostUsdPerMonth: (value) => `dollars a month: ${value}`,
};

/** Order in which details are shown. */
const ORDER = Object.keys(PHRASES);

/** Describes a change in a line: "from admin to owner", "grace@example.com as member". */
export function detailLine({ details }: AuditEvent): string {
  return Object.entries(details)
    .filter(([name]) => !HIDDEN.has(name))
    .toSorted(([a], [b]) => placeOf(a) - placeOf(b))
    .map(([name, value]) => phraseOf(name, textOf(value)))
    .reduce((line, phrase) => join(line, phrase), '');
}

function placeOf(name: string): number {
  const place = ORDER.indexOf(name);
  return place === -1 ? ORDER.length : place;
}

/** Describes a detail: `keysKept` as "keys kept: no". */
function phraseOf(name: string, value: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return PHRASES[name]?.(value) ?? `${words}: ${value}`;
}

/** Joins two phrases, without a comma if the second continues the first. */
function join(line: string, phrase: string): string {
  if (line === '') return phrase;
  return /^(as|from|to) /.test(phrase) ? `${line} ${phrase}` : `${line}, ${phrase}`;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return count(value);
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
