import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ApiClient } from '#test/support/client.ts';

export interface Assistant {
  readonly client: Client;
  /** Calls a tool and returns its text, and whether the text is an error. */
  call(name: string, args?: Record<string, unknown>): Promise<{ text: string; isError: boolean }>;
  close(): Promise<void>;
}

/** Connects the client of the protocol's own SDK with the credential of an API client. */
export async function assistantOf(
  key: ApiClient,
  { mode = 'auto', query = '' }: { mode?: 'auto' | 'legacy'; query?: string } = {},
): Promise<Assistant> {
  const client = new Client({ name: 'test-assistant', version: '1' }, { versionNegotiation: { mode } });
  const url = new URL(`${key.baseUrl}/mcp${query}`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { ...key.headers } } }));
  return {
    client,
    async call(name, args = {}) {
      const { content, isError } = await client.callTool({ name, arguments: args });
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      return { text, isError: isError === true };
    },
    close: () => client.close(),
  };
}

/** Parses the JSON at the beginning of an answer, with the contents of the fences in their places. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape it reads
export function dataOf({ text }: { readonly text: string }): any {
  const texts = new Map<string, string>();
  for (const [, what = '', , inner = ''] of text.matchAll(FENCE)) {
    const [, number] = /^The untrusted text (\d+), /.exec(what) ?? [];
    if (number !== undefined) texts.set(number, inner);
    else
      for (const [, each = '', json = ''] of inner.matchAll(/^(\d+) \w+ (".*")$/gm)) texts.set(each, JSON.parse(json));
  }
  return JSON.parse(text.split('\n\n')[0] ?? '', (_, value: unknown) => {
    const [, number] = /^\(untrusted text (\d+), below\)$/.exec(String(value)) ?? [];
    return number === undefined ? value : texts.get(number);
  });
}

/** Matches a fence: its introduction, its mark, and its content. */
const FENCE = /^(The [^\n]*) stands between the two marks ([\w-]+)\.[^\n]*\n<\2>\n([\s\S]*?)\n<\/\2>$/gm;

/** Returns the part of an answer that is outside all fences. */
export function outsideFences(text: string): string {
  return text.replaceAll(FENCE, '');
}
