import { Option, type Command } from 'commander';
import { askedFor, confirmed } from './ask.ts';
import type { Context } from './context.ts';
import { CliError, usageError } from './failure.ts';
import { withChat } from './find.ts';
import { limitOption, listed, pageSize } from './lists.ts';
import { when } from './output/words.ts';

export function registerChats(program: Command, context: Context): void {
  const chats = program.command('chats').description('Look at the rooms that results are sent to, and add one.');
  chats
    .command('list')
    .description('List the chats of the project.')
    .addOption(limitOption())
    .action((options: { limit: number }) => list(context, options));
  chats
    .command('create')
    .description('Add a room of Slack, Microsoft Teams, Discord or Google Chat.')
    .argument('<name>', 'what it is called here')
    .addOption(new Option('--url <address>', 'its incoming webhook; asked for where it is left out'))
    .action((name: string, options: { url?: string }) => create(context, name, options.url));
  chats
    .command('test')
    .description('Send a test message, once.')
    .argument('<chat>', CHAT)
    .action((given: string) => test(context, given));
  chats
    .command('delete')
    .description('Delete a chat with its address. Routines send it nothing more.')
    .argument('<chat>', CHAT)
    .option('-y, --yes', 'do not ask')
    .action((given: string, options: { yes?: boolean }) => remove(context, given, options));
}

const CHAT = 'id or name';

async function list(context: Context, { limit }: { limit: number }): Promise<void> {
  const ras = await context.client();
  context.out.table(await listed(context, ras.chats.list({ limit: pageSize(limit) }), limit), [
    { title: 'chat', whole: true, value: ({ id }) => id },
    { title: 'name', value: ({ name }) => name },
    { title: 'kind', value: ({ kind }) => kind.replaceAll('_', ' ') },
    { title: 'host', value: ({ host }) => host },
    { title: 'refused since', value: ({ goneAt }) => when(goneAt) },
    { title: 'because', value: ({ goneReason }) => goneReason },
  ]);
}

/** Asks for a missing address, which a shell's history should not contain: everyone who has the address can post. */
async function create(context: Context, name: string, given: string | undefined): Promise<void> {
  if (given === undefined && !context.canAsk) throw usageError('There is no terminal to ask: give --url.');
  const url = given ?? (await askedFor(context, 'Address of its incoming webhook', { secret: true }));
  const ras = await context.client();
  const chat = await ras.chats.create({ name, url });
  context.out.record(chat, { Chat: chat.id, Name: chat.name, Kind: chat.kind.replaceAll('_', ' '), Host: chat.host });
}

async function test(context: Context, given: string): Promise<void> {
  const result = await withChat(context, given, (ras, id) => ras.chats.test(id));
  const { delivered, status, error, durationMs } = result;
  context.out.record(result, { Delivered: delivered ? 'yes' : 'no', Status: status, Time: `${durationMs} ms` });
  if (!delivered) throw new CliError(`The chat did not take the message: ${error ?? 'it gave no reason'}.`);
}

async function remove(context: Context, given: string, { yes = false }): Promise<void> {
  const chat = await withChat(context, given, (ras, id) => ras.chats.read(id));
  if (!yes) await confirmed(context, `Delete "${chat.name}"?`);
  const ras = await context.client();
  await ras.chats.delete(chat.id);
  context.out.record(chat, { Chat: chat.id, Name: chat.name, Deleted: 'yes' });
}
