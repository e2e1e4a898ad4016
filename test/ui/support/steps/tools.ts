import type { Locator, Page } from 'playwright-core';
import type { HostileTools } from '#dev/fakes/hostile-tools/server.ts';

const site = { type: 'object', properties: { site: { type: 'string' } }, required: ['site'] };

/** Gives the tool server three tools: one that reads, one that writes, and one without hints. */
export function offerTools({ control }: HostileTools, description = 'Reads the rankings of a site.'): void {
  control.tools = [
    {
      name: 'read_rankings',
      title: 'Read rankings',
      description,
      inputSchema: site,
      annotations: { readOnlyHint: true },
    },
    {
      name: 'add_note',
      description: 'Adds a note to a report.',
      inputSchema: site,
      annotations: { readOnlyHint: false, destructiveHint: false },
    },
    { name: 'delete_report', description: 'Deletes a report for good.', inputSchema: site },
  ];
}

/** Opens the dialog for a tool server, on the open page of connections. */
export async function openServerDialog(page: Page, name: string): Promise<Locator> {
  await page.getByRole('button', { name: 'Connect a tool server' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Connect a tool server' });
  await dialog.getByLabel('Name').fill(name);
  return dialog;
}

/** Connects the server at the address; ends on the connection's page. */
export async function connectServer(page: Page, dialog: Locator, address: string): Promise<void> {
  const name = await dialog.getByLabel('Name').inputValue();
  await dialog.getByLabel('Address').fill(address);
  await dialog.getByRole('button', { name: 'Connect server' }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

/** Discovers the tools of the open connection for a routine, by the routine's name. */
export async function findTools(page: Page, routine: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Choose tools for a routine' }).fill(routine);
  await page.getByRole('option', { name: routine }).click();
  await page.getByRole('button', { name: 'Find tools' }).click();
  await page.getByText('Found: 3 new tools.').waitFor();
}

/** Requests that a tool may run by itself; ends with the open question. */
export async function askToConfirm(page: Page, tool: string): Promise<Locator> {
  await page.getByRole('button', { name: `Confirm ${tool}` }).click();
  const question = page.getByRole('dialog', { name: `Let runs call ${tool}?` });
  await question.getByText('without asking a person').waitFor();
  return question;
}

/** Answers the open question with yes, and sets a limit of calls. */
export async function confirmWithLimit(page: Page, question: Locator, calls: number): Promise<void> {
  await question.getByRole('button', { name: 'Limits' }).click();
  await question.getByLabel('Calls in one run, at most').fill(String(calls));
  await question.getByRole('button', { name: 'Allow for this routine' }).click();
  await page.getByText(`${calls} a run`).waitFor();
}
