/** Models of every account at the fixture providers; the last is not a chat model. */
export const FIXTURE_ACCOUNT_MODELS = [
  { id: 'fixture/account-small', display_name: 'Account Small', context: 64_000, chat: true },
  { id: 'fixture/account-large', display_name: 'Account Large', context: 200_000, chat: true },
  { id: 'fixture/account-plain', chat: true },
  { id: 'fixture/account-embedding', display_name: 'Embedding', context: 8_000, chat: false },
];

const PAGE = 2;

/** Returns one page of a list, with the fields that Anthropic's clients need for the next page. */
export function modelPage(models: readonly { readonly id: string }[], after: string | null) {
  const start = after === null ? 0 : models.findIndex(({ id }) => id === after) + 1;
  const data = models.slice(start, start + PAGE);
  return {
    object: 'list',
    data,
    has_more: start + PAGE < models.length,
    last_id: data.at(-1)?.id ?? null,
  };
}
