import { useList } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { REVOKE_RULE } from '#ui/api/verbs/actions.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { drawn } from '#ui/format/drawn.ts';
import { useNow } from '#ui/format/now.ts';
import { plural } from '#ui/format/numbers.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { Time } from '#ui/parts/time.tsx';
import { VerbButton } from '#ui/parts/verb-button.tsx';

type Policy = Shape<'ToolPolicy'>;
type Rule = Shape<'ToolRule'>;

/** Lists the standing rules of the tools whose calls are held. */
export function Rules({ policies }: { readonly policies: readonly Policy[] }) {
  const held = policies.filter(({ state, vanishedAt }) => state === 'hold' && vanishedAt === null);
  if (held.length === 0) return null;
  return (
    <Section
      title="Standing rules"
      description="A call that meets a rule is made without a person. You can make a rule from a call in the inbox."
    >
      <div className="flex flex-col gap-5">
        {held.map((policy) => (
          <RulesOf key={policy.id} policy={policy} />
        ))}
      </div>
    </Section>
  );
}

function RulesOf({ policy }: { readonly policy: Policy }) {
  const { routineId, id: policyId, name } = policy;
  const rules = useList('/v1/routines/{routineId}/tools/{policyId}/rules', {
    path: { routineId, policyId },
    query: { limit: 50 },
  });
  return (
    <div>
      <h3 className="mb-1 font-mono text-sm text-ink wrap-anywhere">{drawn(name)}</h3>
      <Await of={rules} skeleton={<SkeletonRows rows={1} />} errorTitle="The rules of this tool could not be read">
        {(all) =>
          all.length === 0 ? (
            <p className="text-sm text-muted">No rules: each call waits for a person.</p>
          ) : (
            <ul className="border-t border-line">
              {all.map((rule) => (
                <RuleRow key={rule.id} rule={rule} policy={policy} />
              ))}
            </ul>
          )
        }
      </Await>
      <Pager list={rules} />
    </div>
  );
}

function RuleRow({ rule, policy }: { readonly rule: Rule; readonly policy: Policy }) {
  const revoke = useVerb(REVOKE_RULE);
  const end = endOf(rule, policy, useNow(60_000));
  const { maxUses, uses, expiresAt } = rule;
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line py-2.5">
      <div className="min-w-0 flex-1 basis-60">
        <p className="text-base text-ink wrap-anywhere">{drawn(rule.words)}.</p>
        <p className="mt-0.5 text-sm text-muted">
          {maxUses === null ? `Used ${plural(uses, 'time')}` : `${Math.max(maxUses - uses, 0)} of ${maxUses} uses left`}
          {end === undefined && expiresAt !== null && (
            <>
              , ends <Time at={expiresAt} as="relative" />
            </>
          )}
        </p>
      </div>
      {end === undefined ? (
        <VerbButton verb={revoke} of={{ rule, routineId: policy.routineId }} size="sm" kind="quiet" bare />
      ) : (
        <Badge>{end}</Badge>
      )}
    </li>
  );
}

/** Says why a rule permits no more calls; undefined while it permits some. */
function endOf(rule: Rule, { definitionHash }: Policy, now: Date): string | undefined {
  if (rule.revokedAt !== null) return 'Revoked';
  if (rule.definitionHash !== definitionHash) return 'Ended, because the definition changed';
  if (rule.expiresAt !== null && Date.parse(rule.expiresAt) <= now.getTime()) return 'Expired';
  return rule.maxUses !== null && rule.uses >= rule.maxUses ? 'Used up' : undefined;
}
