import { Option, type Command } from 'commander';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { withRoutine } from '../find.ts';

const ROUTINE = 'id, key or name';

/** Adds the commands for the webhook of a routine to `routines`. */
export function registerWebhooks(routines: Command, context: Context): void {
  routines
    .command('test-webhook')
    .description('Send one signed test event to the webhook, and show what its receiver said.')
    .argument('<routine>', ROUTINE)
    .action((given: string) => testWebhook(context, given));
  routines
    .command('rotate-secret')
    .description('Make another signing secret for the webhook and show it; the one before signs for 24 hours more.')
    .argument('<routine>', ROUTINE)
    .option('--force', 'also while the secret before the last one still signs')
    .action((given: string, options: { force?: boolean }) => rotate(context, given, options));
}

export function registerListen(program: Command, context: Context): void {
  program
    .command('listen')
    .description('Forward webhook events of runs that end from now on to a receiver on this machine.')
    .requiredOption('--forward-to <url>', 'address of the receiver, such as http://localhost:4000/hooks')
    .addOption(new Option('--routine <routine>', `only runs of this routine: ${ROUTINE}`))
    .action(async (options: { forwardTo: string; routine?: string }) =>
      (await import('./listen.ts')).listen(context, options),
    );
}

async function testWebhook(context: Context, given: string): Promise<void> {
  const tested = await withRoutine(context, given, (ras, id) => ras.routines.testWebhook(id));
  const { status, error, durationMs, responseExcerpt } = tested;
  context.out.record(tested, {
    Event: tested.id,
    Status: status,
    Error: error,
    Time: `${durationMs} ms`,
    Response: responseExcerpt,
  });
  if (status === null || status >= 300) {
    throw new CliError('The receiver did not take the event.', {
      hint: 'It has to respond with a status of 2xx within 20 seconds.',
    });
  }
}

async function rotate(context: Context, given: string, { force = false }: { readonly force?: boolean }): Promise<void> {
  const { id, webhookSecret } = await withRoutine(context, given, (ras, routineId) =>
    ras.routines.rotateWebhookSecret(routineId, { force }),
  );
  if (webhookSecret === null)
    throw new CliError('The response with the secret was lost.', { hint: 'Rotate it again.' });
  if (!context.isForPeople) return context.out.json({ id, webhookSecret });
  context.out.text(webhookSecret);
}
