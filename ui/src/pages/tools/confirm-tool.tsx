import { useForm } from 'react-hook-form';
import { ApiError } from '#ui/api/error.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { parseExact } from '#ui/format/exact-number.ts';
import { isRecord } from '#ui/format/json-pointer.ts';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { Field } from '#ui/parts/field.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { KeyValue } from '#ui/parts/page.tsx';
import { TextDiff } from '#ui/parts/lazily.tsx';
import { RadioCards } from '#ui/parts/toggles.tsx';
import { claimText, definitionText, isChanged } from './hints.ts';

type Policy = Shape<'ToolPolicy'>;

export interface ConfirmToolProps {
  readonly policy: Policy;
  readonly connection: Shape<'Connection'> | undefined;
  readonly routineName: string;
  /** Reads the policies again when this definition is not the latest. */
  readonly onReload: () => void;
  readonly onClose: () => void;
}

interface Limits {
  mode: 'automatic' | 'hold';
  maxCallsPerRun: string;
  argumentSchema: string;
}

/** Asks whether runs may call a tool, by themselves or with approval, naming the tool, its server and the account. */
export function ConfirmTool({ policy, connection, routineName, onReload, onClose }: ConfirmToolProps) {
  const form = useForm<Limits>({
    defaultValues: {
      mode: policy.state === 'hold' ? 'hold' : 'automatic',
      maxCallsPerRun: policy.maxCallsPerRun === null ? '' : String(policy.maxCallsPerRun),
      argumentSchema: policy.argumentSchema === null ? '' : JSON.stringify(policy.argumentSchema, null, 2),
    },
  });
  const { errors } = form.formState;
  const mode = form.watch('mode');
  const confirm = useSend('patch', '/v1/routines/{routineId}/tools/{policyId}', {
    refreshes: ['/v1/routines'],
    done: mode === 'hold' ? `Calls of ${policy.name} wait for you now` : `Runs may call ${policy.name} now`,
    showsError: true,
  });
  const submit = async (limits: Limits) => {
    const argumentSchema = readSchema(limits.argumentSchema);
    if (argumentSchema === undefined) {
      form.setError('argumentSchema', { message: 'This is not a JSON object.' });
      return;
    }
    const { routineId, id, definitionHash } = policy;
    const maxCallsPerRun = limits.maxCallsPerRun === '' ? null : Number(limits.maxCallsPerRun);
    // Refuse NaN, which would be sent as null and mean no limit.
    if (Number.isNaN(maxCallsPerRun)) {
      form.setError('maxCallsPerRun', { message: 'This is not a number.' });
      return;
    }
    try {
      await confirm.sendAsync({
        path: { routineId, policyId: id },
        body: {
          ...(limits.mode === 'hold' ? { state: 'hold' } : { confirmAutomaticExecution: true }),
          definitionHash,
          maxCallsPerRun,
          argumentSchema,
        },
      });
      onClose();
    } catch (error) {
      if (error instanceof ApiError && error.code === 'precondition_failed') onReload();
      throw error;
    }
  };
  return (
    <FormDialog
      onClose={onClose}
      size="lg"
      title={`Let runs call ${drawn(policy.name)}?`}
      description={
        <>
          Runs of <strong className="font-medium text-ink">{routineName}</strong> will{' '}
          {mode === 'hold' ? (
            <>
              ask for it, and <strong className="font-medium text-ink">a person approves each call</strong> before it is
              sent.
            </>
          ) : (
            <>
              call it <strong className="font-medium text-ink">without asking a person</strong>, with what the model
              decides to send.
            </>
          )}
        </>
      }
      form={form}
      onSubmit={submit}
      action={isChanged(policy) ? 'Confirm the new definition' : ACTIONS[mode]}
    >
      <RadioCards
        label="How runs call the tool"
        columns={2}
        options={MODES}
        value={mode}
        onChange={(next) => form.setValue('mode', next)}
      />
      <KeyValue facts={factsOf(policy, connection)} />
      {policy.warnings.map(({ code, message }) => (
        <Notice key={code} tone="warn">
          {message}
        </Notice>
      ))}
      <Definition policy={policy} />
      <Fold
        className="-mx-3"
        summary={<span className="text-sm text-ink">Limits</span>}
        startsOpen={policy.maxCallsPerRun !== null || policy.argumentSchema !== null}
      >
        <Field
          label="Calls in one run, at most"
          optional
          description="Leave this empty for no limit."
          error={errors.maxCallsPerRun?.message}
          className="max-w-80"
        >
          <Input {...form.register('maxCallsPerRun')} inputMode="numeric" autoComplete="off" />
        </Field>
        <Field
          label="Only with these arguments"
          optional
          description="A JSON Schema that every call has to satisfy in addition to the schema of the tool."
          error={errors.argumentSchema?.message}
        >
          <Textarea
            {...form.register('argumentSchema')}
            mono
            rows={3}
            spellCheck={false}
            placeholder='{ "properties": { "site": { "const": "https://example.com" } } }'
          />
        </Field>
      </Fold>
    </FormDialog>
  );
}

const MODES = [
  { value: 'automatic', label: 'Automatic', description: 'Runs call the tool by themselves.' },
  {
    value: 'hold',
    label: 'Hold for approval',
    description: 'Each call waits in the inbox, and the run goes on without the result.',
  },
] as const;

const ACTIONS = { automatic: 'Allow for this routine', hold: 'Hold its calls' } as const;

function factsOf(policy: Policy, connection: ConfirmToolProps['connection']) {
  const code = (text: string) => <code className="font-mono text-xs">{drawn(text)}</code>;
  const server = connection?.server;
  return [
    { label: 'Tool', value: code(policy.name) },
    {
      label: 'Server',
      value: (
        <>
          {drawn(server?.title ?? server?.name ?? connection?.name ?? 'unknown')}
          {connection?.url != null && <> at {code(connection.url)}</>}
        </>
      ),
    },
    {
      label: 'Account',
      value: connection === undefined ? 'unknown' : `${accountOf(connection)}, by the connection ${connection.name}`,
    },
    { label: 'Server claims', value: claimText(policy) },
  ];
}

function accountOf({ auth, accountLabel }: Shape<'Connection'>): string {
  if (accountLabel !== null) return accountLabel;
  return auth === 'none' ? 'None, because no credentials are sent' : 'The owner of the credentials';
}

function Definition({ policy }: { readonly policy: Policy }) {
  const now = definitionText(policy);
  if (!isChanged(policy)) {
    return (
      <Fold className="-mx-3" summary={<span className="text-sm text-ink">What the server says about the tool</span>}>
        <CodeBlock label="definition" code={now} wrap maxHeight="sm" />
      </Fold>
    );
  }
  if (policy.confirmedDefinition === null) {
    return (
      <>
        <Notice tone="warn">
          The definition has changed since a person confirmed it. The earlier definition is not kept.
        </Notice>
        <CodeBlock label="definition" code={now} wrap maxHeight="sm" />
      </>
    );
  }
  return (
    <div className="flex flex-col gap-1.5">
      <p className="text-sm font-medium text-ink">What has changed since the confirmation</p>
      <TextDiff label="What has changed" before={definitionText(policy.confirmedDefinition)} after={now} />
    </div>
  );
}

/** Parses the schema; null for an empty text, undefined for one that is not a JSON object. */
function readSchema(text: string): Record<string, unknown> | null | undefined {
  if (text.trim() === '') return null;
  try {
    const value = parseExact(text);
    return isRecord(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
