import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { shownText } from '#lib/text.ts';
import { ToolServerError } from './error.ts';
import { kindOf } from './read-list.ts';

/** The readable parts of a call's result. */
export interface ToolResult {
  readonly content: readonly ContentPart[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image' | 'audio' | 'resource';
      readonly mimeType: string | null;
      readonly uri: string | null;
      /** Content of the part in base64. */
      readonly data: string;
    }
  | { readonly type: 'link'; readonly name: string; readonly mimeType: string | null; readonly uri: string }
  /** An unreadable part of a tool's result, with the reason in the service's words, which may quote a name. */
  | { readonly type: 'unreadable'; readonly why: string };

/** Reads the result of `tools/call`, each part separately. @throws {ToolServerError} `malformed` */
export function readToolResult(result: unknown): ToolResult {
  if (!isJsonObject(result)) throw malformed(`the result is ${kindOf(result)}, not an object`);
  const { content, structuredContent, isError } = result;
  return {
    content: listOf(content).map(readPart),
    ...(structuredContent === undefined || structuredContent === null ? {} : { structuredContent }),
    isError: saysError(isError),
  };
}

function malformed(place: string): ToolServerError {
  return new ToolServerError('malformed', { place });
}

function listOf(content: unknown): readonly unknown[] {
  if (content === undefined || content === null) return [];
  if (Array.isArray(content)) return content;
  if (isJsonObject(content)) return [content];
  throw malformed(`result.content is ${kindOf(content)}, not a list`);
}

/** Tells whether a result is an error. Every value that does not clearly deny an error counts as an error. */
function saysError(isError: unknown): boolean {
  if (typeof isError === 'string') return !['', 'false', 'no', '0'].includes(isError.trim().toLowerCase());
  return Boolean(isError);
}

function readPart(part: unknown, index: number): ContentPart {
  if (typeof part === 'string') return { type: 'text', text: part };
  const read = isJsonObject(part) ? readKnown(part) : undefined;
  if (read !== undefined) return read;
  const type = isJsonObject(part) ? part['type'] : undefined;
  const what = typeof type === 'string' ? `type ${shownText(type, 40)}` : kindOf(isJsonObject(part) ? type : part);
  return { type: 'unreadable', why: `content[${index}], ${what}` };
}

/** Returns undefined for a part that has an unknown type or lacks its main member. */
function readKnown(part: JsonObject): ContentPart | undefined {
  const { type, text, data, resource } = part;
  switch (type) {
    case 'text':
      return isText(text) ? { type, text: String(text) } : undefined;
    case 'image':
    case 'audio':
      return typeof data === 'string' ? { type, data, mimeType: textIn(part, 'mimeType'), uri: null } : undefined;
    case 'resource_link': {
      const uri = textIn(part, 'uri');
      const mimeType = textIn(part, 'mimeType');
      return uri === null ? undefined : { type: 'link', name: textIn(part, 'name') ?? uri, mimeType, uri };
    }
    case 'resource':
      return isJsonObject(resource) ? readResource(resource) : undefined;
    default:
      return undefined;
  }
}

function readResource(resource: JsonObject): ContentPart | undefined {
  const { text, blob } = resource;
  if (isText(text)) return { type: 'text', text: String(text) };
  if (typeof blob !== 'string') return undefined;
  return { type: 'resource', data: blob, mimeType: textIn(resource, 'mimeType'), uri: textIn(resource, 'uri') };
}

/** Tells whether a value can be read as text, because some servers send a number instead. */
function isText(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function textIn(part: JsonObject, name: string): string | null {
  const value = part[name];
  return typeof value === 'string' ? value : null;
}
