import type { Command } from 'commander';
import type { Context } from './context.ts';
import { CliError, fieldsOf } from './failure.ts';
import { withRoutine } from './find.ts';
import { addressInUse } from './profiles/account.ts';
import { jsonOf, request } from './request.ts';

export function registerOpen(program: Command, context: Context): void {
  program
    .command('open')
    .description('Open the dashboard, or the page of a routine or run in it.')
    .argument('[routine|run]', 'id, or the key or name of a routine')
    .option('--print', 'write the address and start no browser')
    .action(async (given: string | undefined, { print = false }: { print?: boolean }) => {
      const address = `${await dashboardUrl(context)}${await pageOf(context, given)}`;
      // Print the address for a program that reads stdout, which does not want a browser.
      const shows = !print && context.isForPeople && context.stdout.isTTY === true;
      if (!shows || !(await context.openBrowser(address))) context.out.text(address);
      else context.say(`Opened ${address}`);
    });
}

/** Asks the service for the address of its dashboard. */
export async function dashboardUrl(context: Context): Promise<string> {
  const baseUrl = await addressInUse(context, context.options);
  const response = await request(context, `${baseUrl}/public/config`);
  const { uiOrigin } = fieldsOf(fieldsOf(await jsonOf(response))['data']);
  if (typeof uiOrigin !== 'string' || !/^https?:\/\//i.test(uiOrigin)) {
    throw new CliError(`${baseUrl} does not say where its dashboard is (${response.status}).`);
  }
  return uiOrigin.replace(/\/+$/, '');
}

async function pageOf(context: Context, given: string | undefined): Promise<string> {
  if (given === undefined) return '/';
  if (/^run_\w+$/.test(given)) return `/runs/${given}`;
  if (/^rtn_\w+$/.test(given)) return `/routines/${given}`;
  return withRoutine(context, given, async (_, id) => `/routines/${encodeURIComponent(id)}`);
}
