import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

export const FOLDER = path.join(import.meta.dirname, '../../docs');

/** Returns a Markdown document by its file name; undefined for an unknown name. */
export async function documentNamed(name: string): Promise<string | undefined> {
  return (await readdir(FOLDER)).includes(name) ? readFile(path.join(FOLDER, name), 'utf8') : undefined;
}

/** Lists the documents for models that use the service (llmstxt.org), each with its title and first sentence. */
export async function listForModels(publicUrl: string): Promise<string> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.md')).toSorted();
  const lines = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(path.join(FOLDER, name), 'utf8');
      const [title = name, begin = ''] = text.slice('# '.length).split(/\n\n/);
      const words = begin.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('\n', ' ');
      const [sentence] = words.split(/(?<=\.) /);
      return `- [${title}](${publicUrl}/docs/${name})${sentence?.endsWith('.') ? `: ${sentence}` : ''}`;
    }),
  );
  return `# Routine Automation Service

> Recurring work for language models: a routine has instructions, a cron schedule, a model, skills and tools; each run of
> it is recorded step by step, with its usage and its result.

Programs call \`${publicUrl}/v1\` with an API key as a bearer token; assistants connect to \`${publicUrl}/mcp\`.

## API

- [OpenAPI for API keys](${publicUrl}/v1/openapi.json?for=keys): what a key may call, in a form for generators of clients
- [OpenAPI](${publicUrl}/v1/openapi.json): every operation, its schemas and its errors

## Documents

Sections with some words: \`${publicUrl}/docs/search?q=…\`

${lines.join('\n')}
`;
}
