import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { typedRoutine, prices } from '#test/core/execution/results/world.ts';
import { changeRuns } from '#test/support/given.ts';
import { FULL_SIZE, oneOfEach } from '#test/support/properties.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { marker } from '#test/core/integrations/tools/support.ts';
import { dashboardTest, sizeOf } from './support/fixtures.ts';
import { overflowOf, photograph, sequence } from './support/photograph.ts';
import { longReport, HOSTILE } from './support/reports.ts';
import { SHOTS } from './support/shots.ts';

const test = dashboardTest()
  .extend('key', { scope: 'file' }, ({ person }) => person.key())
  /** Runs a routine whose model writes these texts, one for each run; returns the runs. */
  .extend('said', { scope: 'file' }, ({ service, key }) => async (...texts: string[]) => {
    const mark = marker();
    const routineId = await createRoutine(key, { name: 'Weekly site audit', instructions: mark });
    const runs = [];
    for (const text of texts) {
      service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
      const run = await runOnce(key, routineId);
      expect(run.errorMessage).toBeNull();
      runs.push(run);
    }
    return runs;
  })
  .extend(
    'at',
    ({ person }) =>
      (path: string) =>
        `/p/${person.projectId}/runs/${path}`,
  );

test.afterEach(({ service }) => service.gateway.control.reset());

test('a long result is a document with an outline, and on paper a report', async ({ person, said, visit, at }) => {
  const [run] = await said(longReport(1_600));
  const target = at(run.id);
  await photograph(visit, 'reading', [
    {
      as: person,
      name: 'document',
      path: target,
      act: async (page) => {
        await page.getByRole('heading', { level: 3, name: 'Site audit' }).waitFor();
        await page.getByRole('img', { name: 'Done' }).first().waitFor();
        await page.getByRole('region', { name: 'Table' }).first().waitFor();
      },
    },
  ]);
  const { page, settled } = await visit(target, { as: person });
  const outline = page.getByRole('navigation', { name: 'Contents' });
  await outline.getByRole('link', { name: 'Part 7' }).click();
  await expect.poll(() => isInView(page.getByRole('heading', { name: 'Part 7' }))).toBe(true);
  expect(await isInView(outline)).toBe(true);
  const current = outline.locator('[aria-current=location]');
  await expect.poll(() => current.allTextContents()).toEqual(['Part 7']);
  await page.keyboard.press('Home');
  await expect.poll(() => current.allTextContents()).toEqual(['Site audit']);
  await page.getByRole('link', { name: 'Footnote 1' }).click();
  await expect.poll(() => isInView(page.getByText('Measured from Frankfurt'))).toBe(true);

  await page.setViewportSize(sizeOf(360));
  await page.reload();
  await settled();
  await page.getByRole('button', { name: 'Contents' }).click();
  await page.getByRole('link', { name: 'Part 7' }).click();
  expect(await overflowOf(page)).toEqual([]);

  await page.setViewportSize(sizeOf(1280));
  await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
  await page.getByText(`Version ${run.routineRevision} · fixture/writer-small`).waitFor();
  for (const gone of ['Steps', 'What the model was given', 'Facts']) {
    expect(await page.getByText(gone, { exact: true }).first().isVisible(), gone).toBe(false);
  }
  for (const role of ['button', 'navigation', 'complementary'] as const) {
    expect(await page.getByRole(role).count(), role).toBe(0);
  }
  expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')).toBe(
    await page.evaluate(LIGHT_CANVAS),
  );
  expect(await overflowOf(page)).toEqual([]);
  await keepPaper(page, 'reading-document');
});

test('a result is exported as Markdown, and its data as JSON and CSV', async ({ service, person, key, visit, at }) => {
  const { run } = await typedRoutine(service, key, { name: 'Prices of the rivals' });
  const typed = await run(prices({ '=tea': 3, salt: 1 }, 'Tea, "dearer".'));
  const { page, settled } = await visit(at(typed.id), { as: person });
  await settled();
  const files: Record<string, string> = {};
  for (const item of ['Markdown', 'Data as JSON', 'Data as CSV']) {
    await page.getByRole('button', { name: 'Export' }).press('Enter');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: item }).press('Enter'),
    ]);
    const chunks = await (await file.createReadStream()).toArray();
    files[file.suggestedFilename().replace(/\d{4}-\d{2}-\d{2}-\d{4}/, 'TIME')] = Buffer.concat(chunks).toString();
  }
  expect(Object.keys(files)).toEqual([
    'prices-of-the-rivals-TIME.md',
    'prices-of-the-rivals-TIME.json',
    'prices-of-the-rivals-TIME.csv',
  ]);
  expect(files['prices-of-the-rivals-TIME.md']).toBe(typed.result);
  expect(JSON.parse(files['prices-of-the-rivals-TIME.json'] ?? '')).toEqual(typed.data);
  expect(files['prices-of-the-rivals-TIME.csv']).toBe("\uFEFFid,price\r\n'=tea,3\r\nsalt,1\r\n");
});

test('a table of wide data has one line a row with the ids last; on a phone each row is a card with the changes first', async ({
  service,
  key,
  person,
  visit,
}) => {
  const { run } = await typedRoutine(service, key, {
    name: 'Pages',
    resultSchema: { type: 'object', properties: { items: { type: 'array' } }, required: ['items'] },
  });
  const item = (nth: number, status: number) => ({
    id: `3f6c0f1e-5b0e-4c36-9d0f-6f4e5a1b2c3${nth}`,
    page: `https://www.example.com/a/long/path/that/no/column/has/room/for/${nth}?with=a-query`,
    finding: 'A sentence of some length that says in words what was found on this very page. '.repeat(2),
    status,
  });
  const items = [0, 1, 2, 3, 4].map((nth) => item(nth, 200));
  await run({ items });
  const last = await run({ items: items.with(4, item(4, 404)) });
  const { page, settled, expectClean } = await visit(`/p/${person.projectId}/runs/${last.id}`, { as: person });
  await settled();
  const row = page.getByRole('row', { name: /path/ });
  expect((await row.first().boundingBox())!.height).toBeLessThan(64);
  const heads = await page.getByRole('columnheader').allTextContents();
  expect(heads.indexOf('Id')).toBeGreaterThan(heads.indexOf('Page'));
  await page
    .getByRole('link', { name: /^example\.com\/a\/long/ })
    .first()
    .waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await expectClean();
  const tops = await Promise.all([0, 4].map(async (nth) => (await row.nth(nth).boundingBox())!.y));
  expect(tops[1]).toBeLessThan(tops[0]!);
});

test('numbers that a browser would round are shown and exported with their digits', async ({
  service,
  person,
  key,
  visit,
  at,
}) => {
  const resultSchema = { type: 'object', properties: { orders: { type: 'array' } }, required: ['orders'] };
  const { mark, id } = await typedRoutine(service, key, {
    name: 'Orders',
    resultSchema,
    resultKey: { list: '/orders', key: '/id' },
    builtInTools: ['calculate'],
  });
  const [order, other] = ['1234567890123456789', '1234567890123456790'];
  const data = `{"orders":[{"id":${order},"paid":0.1000000000000000000000001},{"id":${other}}]}`;
  const calls = [
    { name: 'calculate', arguments: `{"operation":"arithmetic","expression":"x","variables":{"x":${order}}}` },
  ];
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'tool-calls', calls } });
  const finish = [{ name: 'finish', arguments: `{"result":${data}}` }];
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'tool-calls', calls: finish } });
  const run = await runOnce(key, id);
  expect(run).toMatchObject({ state: 'succeeded' });
  expect(run.steps[1].tool.result).toContain('variables.x: send an integer of more than 15 digits as text');
  const { page, settled } = await visit(at(run.id), { as: person });
  await settled();
  for (const text of [order, other, '0.1000000000000000000000001']) {
    await page.getByRole('cell', { name: text, exact: true }).waitFor();
  }
  await page
    .getByRole('button', { name: /calculate/ })
    .first()
    .click();
  await page.getByText(`"x": ${order}`).waitFor();
  const files = [];
  for (const item of ['Data as JSON', 'Data as CSV']) {
    await page.getByRole('button', { name: 'Export' }).press('Enter');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: item }).press('Enter'),
    ]);
    files.push(Buffer.concat(await (await file.createReadStream()).toArray()).toString());
  }
  expect(files[0]?.replaceAll(/\s/g, '')).toBe(data);
  expect(files[1]).toBe(`\uFEFFid,paid\r\n${order},0.1000000000000000000000001\r\n${other},\r\n`);
});

test('data is a table by its schema: marked, sorted, filtered, and with the past of its numbers', async ({
  service,
  person,
  key,
  visit,
  at,
}) => {
  const { run } = await typedRoutine(service, key, {
    name: 'Prices of the rivals',
  });
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`item ${n}`, 20 - n]));
  for (const price of [30, 28, 31]) await run(prices({ tea: price, salt: 1, ...many }));
  const last = await run(prices({ tea: 34, rice: 2, ...many }, 'Tea is dearer than ever.'));
  const take = sequence('reading-data');
  const watched = await visit(at(last.id), { as: person });
  const { page, settled } = watched;
  await settled();
  const table = page.getByRole('region', { name: 'Table of Items' });
  const rows = table.getByRole('row');
  expect(await rows.count()).toBe(1 + 14 + 1);
  expect(await rows.filter({ hasText: 'Changed' }).innerText()).toMatch(/tea\s+34\s+was 31/);
  expect(await rows.filter({ hasText: 'Added' }).innerText()).toContain('rice');
  expect(await rows.filter({ hasText: 'Removed' }).innerText()).toContain('salt');
  await take(watched, 'marked');

  await table.getByRole('button', { name: 'Price' }).press('Enter');
  await table.locator('th[aria-sort="ascending"]').waitFor();
  expect(await rows.nth(1).innerText()).toContain('salt');
  await table.getByRole('button', { name: 'Price' }).press('Enter');
  expect(await rows.nth(1).innerText()).toContain('tea');
  await page.getByRole('searchbox', { name: 'Filter Items' }).fill('item 1');
  await page.getByText('3 of 15 rows').waitFor();
  await page.getByRole('searchbox', { name: 'Filter Items' }).fill('');
  await page.getByRole('checkbox', { name: 'Only changes' }).press('Space');
  await page.getByText('3 of 15 rows').waitFor();

  await page.getByRole('button', { name: 'tea over the last runs' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'tea over the last runs' });
  await dialog.getByRole('img', { name: /^Price of tea over 4 runs/ }).waitFor();
  const values = dialog.getByRole('table').getByRole('row');
  await expect.poll(() => values.count()).toBe(5);
  const shown = await Promise.all((await values.all()).map((row) => row.innerText()));
  expect(shown.slice(1).map((text) => text.split(/\s+/).at(-1))).toEqual(['34', '31', '28', '30']);
  await take(watched, 'past');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('searchbox').count()).toBe(0);
  expect(await rows.filter({ hasText: 'Changed' }).innerText()).toMatch(/tea\s+34\s+was 31/);
  expect(await overflowOf(page)).toEqual([]);
  await keepPaper(page, 'reading-data');
});

test('on paper a table has all of its rows', async ({ service, person, key, visit, at }) => {
  const { run } = await typedRoutine(service, key, { name: 'Prices of all shops' });
  const items = Object.fromEntries(Array.from({ length: 130 }, (_, n) => [`shop ${n}`, n]));
  const { id } = await run(prices(items));
  const { page, settled } = await visit(at(id), { as: person });
  await settled();
  const rows = page.getByRole('region', { name: 'Table of Items' }).getByRole('row');
  expect(await rows.count()).toBe(1 + 100);
  await page.pdf();
  expect(await rows.count()).toBe(1 + 130);
  // The heads of later pages would lack a button, so in print a head shows only the button's content.
  await page.emulateMedia({ media: 'print' });
  expect(await page.evaluate(`getComputedStyle(document.querySelector('th button')).display`)).toBe('contents');
});

test.runIf(FULL_SIZE)(
  'two runs stand side by side, by word and by key, at an address that names both',
  async ({ service, person, key, said, visit, at }) => {
    const report = longReport(300);
    const [first, second] = await said(report, report.replace('1.8 s', '2.4 s').replace('unique', 'different'));
    const take = sequence('comparing');
    const watched = await visit(at(second.id), { as: person });
    const { page, settled } = watched;
    await page.getByRole('link', { name: 'Compare with…' }).press('Enter');
    await page.waitForURL(/\/compare/);
    await settled();
    const texts = page.getByRole('region', { name: 'Differences of the result' });
    expect(await texts.getByRole('deletion').allInnerTexts()).toEqual(['unique', '1', '8']);
    expect(await texts.getByRole('insertion').allInnerTexts()).toEqual(['different', '2', '4']);
    const [answer] = await page.getByRole('heading', { level: 2 }).allInnerTexts();
    expect(answer).toBe('Result');
    const facts = page.getByRole('region', { name: 'Facts of the two runs' });
    expect(await facts.getByRole('row', { name: /^Took/ }).innerText()).not.toContain('differs');
    await take(watched, 'texts');
    await page.getByRole('button', { name: 'Swap the two runs' }).press('Enter');
    await page.waitForURL(`**${at(first.id)}/compare?against=${second.id}`);

    const { run } = await typedRoutine(service, key, { name: 'Prices of the rivals' });
    const before = await run(prices({ tea: 3, salt: 1 }));
    const after = await run(prices({ tea: 4, rice: 2 }));
    await page.goto(`${at(after.id)}/compare?against=${before.id}`);
    await page.getByText('1 added, 1 removed, 1 changed.').waitFor();
    await settled();
    expect(await page.getByRole('row').filter({ hasText: 'Changed' }).innerText()).toMatch(/tea\s+4\s+was 3/);
    await take(watched, 'data');

    await page.goto(`${at(after.id)}/compare?against=${first.id}`);
    await page.getByText('These are runs of two routines').waitFor();
    await page.goto(`${at(after.id)}/compare?against=${after.id}`);
    await page.getByText('This is the same run twice').waitFor();
    await page.goto(`${at(after.id)}/compare?against=run_01kx3k9y6wfd8r0v5m2c7t4q5d`);
    await page.getByText('The two runs could not be read').waitFor();
    await page.goto(`/p/${person.projectId}/runs`);
    await page.getByRole('link', { name: 'Compare with another run' }).first().press('Enter');
    await page.waitForURL(/\/compare/);
    expect(watched.complaints).toEqual([]);
  },
);

test.runIf(FULL_SIZE)('bracket keys lead to the previous and the next result', async ({ person, said, visit, at }) => {
  const [first, second, third] = await said('One.', 'Two.', 'Three.');
  const { page, expectClean } = await visit(at(second.id), { as: person });
  await page.getByRole('link', { name: 'Next result' }).waitFor();
  await page.keyboard.press('[');
  await page.waitForURL(`**${at(first.id)}`);
  await page.locator('.prose-text', { hasText: 'One.' }).waitFor();
  await page.getByRole('link', { name: 'Next result' }).waitFor();
  expect(await page.getByRole('link', { name: 'Previous result' }).count()).toBe(0);
  await page.keyboard.press(']');
  await page.waitForURL(`**${at(second.id)}`);
  await page.getByRole('link', { name: 'Next result' }).waitFor();
  await page.keyboard.press(']');
  await page.waitForURL(`**${at(third.id)}`);
  await page.locator('.prose-text', { hasText: 'Three.' }).waitFor();
  await expectClean();
});

test('brackets stop at a failed run that has a result, and pass one that has none', async ({
  service,
  person,
  key,
  visit,
  at,
}) => {
  const report = await typedRoutine(service, key, {
    resultSchema: null,
    resultKey: null,
    name: 'Sources',
    checks: [{ type: 'distinct_sources', atLeast: 1 }],
  });
  const first = await report.run('Short, by https://example.com/a.');
  const failed = await report.run('Without a source.');
  const empty = await report.run('Gone.');
  await changeRuns(service.deps.database, empty.id, { state: 'failed', result: null });
  const last = await report.run('Again, by https://example.com/b.');
  expect([first.state, failed.state, last.state]).toEqual(['succeeded', 'failed', 'succeeded']);
  const { page } = await visit(at(last.id), { as: person });
  await page.getByRole('link', { name: 'Previous result' }).waitFor();
  await page.keyboard.press('[');
  await page.waitForURL(`**${at(failed.id)}`);
  await page.locator('.prose-text', { hasText: 'Without a source.' }).waitFor();
  await page.getByRole('link', { name: 'Next result' }).waitFor();
  await page.keyboard.press('[');
  await page.waitForURL(`**${at(first.id)}`);
  await page.getByRole('link', { name: 'Next result' }).waitFor();
  await page.keyboard.press(']');
  await page.waitForURL(`**${at(failed.id)}`);
  await page.getByRole('link', { name: 'Next result' }).waitFor();
  await page.keyboard.press(']');
  await page.waitForURL(`**${at(last.id)}`);
});

test('a hostile result is shown, and does nothing', async ({ person, said, visit, at }) => {
  const hostile = oneOfEach(HOSTILE, ({ text }) => text.length > 1_000);
  const runs = await said(...hostile.map(({ text }) => text));
  const { page, settled, complaints } = await visit('about:blank', { as: person });
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  for (const [index, { name, sees }] of hostile.entries()) {
    await page.goto(at(runs[index].id));
    await settled();
    await page.getByText(sees).first().waitFor();
    expect(await overflowOf(page), name).toEqual([]);
    const links = await page
      .locator('.prose-text a[href]')
      .evaluateAll((all) => all.map((link) => (link as unknown as { href: string }).href));
    expect(
      links.filter((href) => !/^(https?:|mailto:)/.test(href)),
      name,
    ).toEqual([]);
  }
  const own = new URL(page.url()).origin;
  expect(requests.filter((url) => !url.startsWith(own) && !url.startsWith('blob:'))).toEqual([]);
  expect(complaints).toEqual([]);
});

test('a very long result is read to its end', async ({ person, said, visit, at }) => {
  const line = `${'Lorem ipsum dolor **sit** amet, `consectetur` elit. '.repeat(8)}\n\n`;
  const [run] = await said(`${line.repeat(Math.floor((FULL_SIZE ? 399_900 : 79_900) / line.length))}## The end\n`);
  const { page, settled } = await visit(at(run.id), { as: person });
  await settled();
  await page.getByRole('heading', { name: 'The end' }).waitFor();
  await page.getByRole('button', { name: 'As written' }).click();
  const written = page.getByRole('region', { name: 'result', exact: true });
  await written.waitFor();
  expect((await written.innerText()).length).toBeLessThan(45_000);
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(async () => (await written.innerText()).length).toBeGreaterThan(60_000);
});

test.runIf(FULL_SIZE)(
  'a run that is erased while it is read says so, and the rest of the page stays',
  async ({ service, person, said, visit, at }) => {
    const [before, run] = await said('Old words.', 'New words.');
    const { page, complaints } = await visit(at(run.id), { as: person });
    await page.locator('.prose-text', { hasText: 'New words.' }).waitFor();
    await changeRuns(service.deps.database, run.id, ERASED);
    const erased = page.getByText('The texts of this run were erased');
    await expect
      .poll(async () => {
        // The page reads again when the reader returns to it.
        await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`);
        return erased.count();
      })
      .toBe(1);
    await page.goto(`${at(run.id)}/compare?against=${before.id}`);
    await page.getByText('The texts of the later run were erased').waitFor();
    await page.getByText('The second run has none.').first().waitFor();
    expect(complaints).toEqual([]);
  },
);

const ERASED = {
  contentErasedAt: new Date(),
  prompt: null,
  result: null,
  data: null,
  changes: null,
};

async function isInView(locator: Locator): Promise<boolean> {
  const box = await locator.boundingBox();
  const size = locator.page().viewportSize();
  return box !== null && size !== null && box.y + box.height > 0 && box.y < size.height;
}

/** Expression for the colour of a page in the light theme. */
const LIGHT_CANVAS = `(() => {
  const { dataset, style } = document.documentElement;
  const before = dataset.theme;
  dataset.theme = 'light';
  const color = getComputedStyle(document.documentElement).backgroundColor;
  dataset.theme = before;
  return color;
})()`;

/** Saves the printed page as a file, if pictures are wanted. */
async function keepPaper(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  await page.pdf({
    path: path.join(SHOTS, `${name}.pdf`),
    format: 'A4',
    preferCSSPageSize: true,
  });
  await page.setViewportSize({ width: 794, height: 1123 });
  await page.screenshot({ path: path.join(SHOTS, `${name}-paper.png`) });
}
