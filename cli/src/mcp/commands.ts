import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { Option, type Command } from 'commander';
import type { Context } from '../context.ts';
import { CliError, reason } from '../failure.ts';
import { addressInUse } from '../profiles/account.ts';
import { jsonOf, request } from '../request.ts';
import { writeWhole } from '../write-whole.ts';
import { CLIENTS, type McpClient } from './clients.ts';

interface InstallOptions {
  readonly client: string;
  readonly print?: boolean;
}

export function registerMcp(program: Command, context: Context): void {
  const names = Object.keys(CLIENTS);
  program
    .command('mcp')
    .description('Let an assistant use the service as tools.')
    .command('install')
    .description('Write the configuration of an assistant, without a key in it.')
    .addOption(new Option('--client <name>', 'the assistant').choices(names).makeOptionMandatory())
    .option('--print', 'write it to stdout and change no file')
    .action((options: InstallOptions) => install(context, options));
}

async function install(context: Context, { client: name, print = false }: InstallOptions) {
  const client = CLIENTS[name];
  if (client === undefined) throw new CliError(`There is no client "${name}".`);
  const address = await addressInUse(context, context.options);
  const url = `${address}/mcp`;
  const registers = client.withoutRegistration === undefined || (await registersClients(context, address));
  if (print) return context.out.text(client.add('', url, { registers }));
  const { env, cwd } = context;
  const home = env['HOME'] || homedir();
  const file = client.file({ env, cwd, home, platform: process.platform });
  const before = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new CliError(`${file} cannot be read: ${error.code}`, { cause: error });
  });
  const after = added(client, { file, before, url, name, registers });
  if (after === before) context.say(`${file} has it already.`);
  else {
    await writeWhole(file, after);
    context.say(`Wrote ${url} into ${file}.`);
  }
  context.say(registers ? client.next : (client.withoutRegistration ?? client.next));
  context.out.record({ client: name, file, url }, {});
}

/**
 * Asks whether the service registers clients, which a sign-in by a browser needs.
 * @throws {CliError}
 */
async function registersClients(context: Context, address: string): Promise<boolean> {
  const response = await request(context, `${address}/.well-known/oauth-authorization-server/auth`);
  const document = response.ok ? await jsonOf(response) : undefined;
  return typeof document === 'object' && document !== null && 'registration_endpoint' in document;
}

function added(
  client: McpClient,
  { file, before, url, name, registers }: Record<'file' | 'before' | 'url' | 'name', string> & { registers: boolean },
): string {
  try {
    return client.add(before, url, { registers });
  } catch (cause) {
    throw new CliError(`${file} was left as it is: ${reason(cause)}.`, {
      hint: `Add by hand what this prints: ras mcp install --client ${name} --print`,
      cause,
    });
  }
}
