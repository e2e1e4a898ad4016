/** A fault that the tests must find: a text of the code, its replacement, and the tests that then fail. */
export interface Mutation {
  readonly name: string;
  readonly file: string;
  /** Text that occurs once in the file. */
  readonly from: string;
  readonly to: string;
  readonly tests: readonly string[];
}

const STEPS = 'core/execution/steps';
const ACTIONS = 'core/execution/actions';
const OAUTH = 'core/integrations/connections/oauth';

/** Faults that cost users money or data. Each has happened in this code once, or needs one changed word to happen. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a tick claims what another has claimed',
    file: 'core/scheduling/claim.ts',
    from: 'for no key update skip locked',
    to: '',
    tests: ['test/core/scheduling/claim.test.ts', 'test/core/scheduling/tick.test.ts'],
  },
  {
    name: 'the next time of a routine is not advanced',
    file: 'core/scheduling/claim.ts',
    from: 'decided.map(({ routine: { id }, next }) => ({ id, next }))',
    to: '[]',
    tests: ['test/core/scheduling/tick.test.ts'],
  },
  {
    name: 'admission ignores the room',
    file: 'core/execution/admission/admit.ts',
    from: 'select least(${freePlaces(taskQueue)}, ${limit})::integer as places',
    to: 'select ${limit}::integer as places',
    tests: ['test/core/execution/admission/admission.test.ts', 'test/core/execution/admission/order.test.ts'],
  },
  {
    name: 'a run ends twice',
    file: 'core/execution/runs/end-run.ts',
    from: 'where id = ${runId} and state = any(${runStatesBefore(state, reason)})',
    to: 'where id = ${runId}',
    tests: ['test/core/execution/run-states/states.test.ts'],
  },
  {
    name: 'what others have reserved is spent again',
    file: 'core/usage/reserve.ts',
    from: 'least(min(tokens_left - tokens_reserved)',
    to: 'least(min(tokens_left)',
    tests: ['test/core/usage/budgets.test.ts', 'test/core/usage/limits-hold.test.ts'],
  },
  {
    name: 'a tool that has changed is called',
    file: 'core/integrations/tools/judge-call.ts',
    from: "if (found.hash !== policy.confirmedHash) return refused('tool_changed');",
    to: '',
    tests: ['test/core/integrations/tools/judge-call.test.ts'],
  },
  {
    name: 'the metadata of the cloud is reached',
    file: 'lib/outbound/addresses.ts',
    from: 'if (isMetadata) return false;',
    to: '',
    tests: ['test/lib/outbound/addresses.test.ts'],
  },
  {
    name: 'the signature of a webhook leaves its body out',
    file: 'core/delivery/webhooks/attempt.ts',
    from: '${message.id}.${timestamp}.${message.body}',
    to: '${message.id}.${timestamp}.',
    tests: ['test/core/delivery/webhooks/signature.test.ts'],
  },
  {
    name: 'a sealed text opens in another place',
    file: 'lib/secrets/secret-box.ts',
    from: '[VERSION, keyId, place.table, place.row, place.column]',
    to: '[VERSION, keyId]',
    tests: ['test/lib/secrets/secret-box.test.ts'],
  },
  {
    name: 'a run is read by the members of another project',
    file: 'core/execution/runs/queries.ts',
    from: 'from runs where id = ${id} and project_id = ${projectId}',
    to: 'from runs where id = ${id} and id <> ${projectId}',
    tests: ['test/core/execution/run-events/events.test.ts'],
  },
  {
    name: 'a step is recorded after the end of its run',
    file: `${STEPS}/record-step.ts`,
    // Each of the two conditions is enough, because the end of a run closes its steps.
    from: `where id = \${runId} and state = 'running' and \${call === undefined ? sql\`true\` : callHolds(call)} for update
    ), step as (
      -- The run's id is repeated: a plan that Postgres makes while the table is young finds a step by its index alone.
      update steps set state = 'succeeded', error_message = null, text = \${storable(response.text)},
        messages = \${storableJson(messages)}::jsonb, finish_reason = \${response.finishReason},
        warnings = \${warningsJson(record)}::jsonb, \${addUsage(used, sql\`usage_estimated\`)}, finished_at = now()
      from live
      where run_id = \${runId} and run_id = live.id and index = \${index} and state = 'started'`,
    to: `where id = \${runId} and \${call === undefined ? sql\`true\` : callHolds(call)} for update
    ), step as (
      -- The run's id is repeated: a plan that Postgres makes while the table is young finds a step by its index alone.
      update steps set state = 'succeeded', error_message = null, text = \${storable(response.text)},
        messages = \${storableJson(messages)}::jsonb, finish_reason = \${response.finishReason},
        warnings = \${warningsJson(record)}::jsonb, \${addUsage(used, sql\`usage_estimated\`)}, finished_at = now()
      from live
      where run_id = \${runId} and run_id = live.id and index = \${index}`,
    tests: ['test/core/execution/steps/steps.test.ts', 'test/core/usage/late-responses.test.ts'],
  },
  {
    name: 'half of a response counts as whole',
    file: 'core/clients/gateway/stream.ts',
    from: 'if (!stream.isWhole) throw brokenOff(stream.hasBegun);',
    to: '',
    tests: ['test/core/execution/steps/odd-responses.test.ts'],
  },
  {
    name: 'a finish word that is not known counts as an end',
    file: 'core/clients/gateway/finish-words.ts',
    from: "?.[0] ?? 'unknown'",
    to: "?.[0] ?? 'whole'",
    tests: ['test/core/clients/gateway/finish-words.test.ts'],
  },
  {
    name: 'a sign-in that is over stays ready',
    file: `${OAUTH}/source.ts`,
    from: "await retireGrant(deps.database, connection, stored.version, 'authorization_revoked');",
    to: '',
    tests: ['test/core/integrations/connections/oauth-renewal.test.ts'],
  },
  {
    name: 'a run without its tools is whole',
    file: `${STEPS}/judge.ts`,
    from: '!(await lacksConnection(db, run.runId))',
    to: '!(await lacksConnection(db, `${run.runId}-`))',
    tests: ['test/core/integrations/connections/odd/without-tools.test.ts'],
  },
  {
    name: 'a long number is rounded',
    file: 'lib/exact-json/parse.ts',
    from: 'isHeld(value, source) ? value : make(source)',
    to: 'isHeld(value, source) ? value : value',
    tests: ['test/lib/exact-json'],
  },
  {
    name: 'a failed payment renews the grace',
    file: 'core/accounts/billing/payment/entitlement.ts',
    from: 'const grace = after(pastDueSince, graceDays);',
    to: 'const grace = after(new Date(), graceDays);',
    tests: ['test/core/accounts/billing/entitlement.test.ts', 'test/core/accounts/billing/grace.test.ts'],
  },
  {
    name: 'any status of a webhook counts as delivered',
    file: 'core/delivery/webhooks/attempt.ts',
    from: 'status >= 200 && status <= 299',
    to: 'status >= 200',
    tests: ['test/core/delivery/webhooks/attempts.test.ts'],
  },
  {
    name: 'a renewal leaves out the refresh token that goes on',
    file: `${OAUTH}/source.ts`,
    from: 'tokens.refreshToken ?? old.refreshToken',
    to: 'tokens.refreshToken ?? null',
    tests: ['test/core/integrations/connections/oauth-renewal.test.ts'],
  },
  {
    name: 'a translated page fails',
    file: 'ui/src/main.tsx',
    from: 'surviveTranslators();',
    to: '',
    tests: ['test/ui/states/translated.test.ts'],
  },
  {
    name: 'a process starts with the wrong key',
    file: 'lib/secrets/check-key.ts',
    from: 'if (known !== undefined) return assertOpens(secrets, [known]);',
    to: 'if (known !== undefined) return;',
    tests: ['test/lib/secrets/wrong-key.test.ts'],
  },
  {
    name: 'the release before sends a mail of this one',
    file: 'core/foundation/outbox/waiting.ts',
    from: "sql`'infinity'::timestamptz`",
    to: 'sql`now()`',
    tests: ['test/core/foundation/outbox/release-before.test.ts'],
  },
  {
    name: 'a mail that the release before is sending is sent again',
    file: 'core/foundation/outbox/waiting.ts',
    from: "where state = 'pending' and next_attempt_at <= now() limit",
    to: "where state = 'pending' and next_attempt_at < 'infinity' limit",
    tests: ['test/core/foundation/outbox/release-before.test.ts'],
  },
  {
    name: 'due work is done in one transaction and its row removed in another',
    file: 'core/foundation/work/queue.ts',
    from: 'if (finished > 0) await then(tx);',
    to: 'if (finished > 0) await then(database);',
    tests: ['test/core/foundation/work/work.test.ts'],
  },
  {
    name: 'an attempt whose lease has run out records its end',
    file: 'core/foundation/work/queue.ts',
    from: 'delete from work where kind = ${kind} and key = ${key} and attempts = ${attempt} and failed_at is null',
    to: 'delete from work where kind = ${kind} and key = ${key} and ${attempt} > 0 and failed_at is null',
    tests: ['test/core/foundation/work/work.test.ts'],
  },
  {
    name: 'a held call is approved unseen',
    file: `${ACTIONS}/decide.ts`,
    from: "if (!wanted.digests.includes(seen.digest)) throw new AppError('action_differs');",
    to: '',
    tests: ['test/core/execution/actions/decide.test.ts'],
  },
  {
    name: 'a program approves what its own run asks for',
    file: `${ACTIONS}/decide.ts`,
    from: 'credential !== null && startedBy.includes(credential)',
    to: 'credential === by.kind',
    tests: ['test/core/execution/actions/decide.test.ts'],
  },
  {
    name: 'an approved call waits for the tick where another decision locked it',
    file: `${ACTIONS}/decide.ts`,
    from: "work.nudge('actions');",
    to: '',
    tests: ['test/core/execution/actions/decide.test.ts'],
  },
  {
    name: 'a call whose worker was lost while it sent it counts as unsent',
    file: `${ACTIONS}/send.ts`,
    from: "if (action.state === 'sending') return persistently(() => record(deps, action, LOST), signal);",
    to: '',
    tests: ['test/core/execution/actions/send.test.ts'],
  },
  {
    name: 'a shared link holds after sharing was switched off and on',
    file: 'core/execution/shared-links/shared-links.ts',
    from: 'l.expires_at > now() and l.created_at >= p.shared_links_since',
    to: 'l.expires_at > now()',
    tests: ['test/core/execution/shared-links/shared-links.test.ts'],
  },
];
