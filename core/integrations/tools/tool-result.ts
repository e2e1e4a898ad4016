import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ContentPart, ToolResult } from '#core/clients/mcp/index.ts';
import { parseJson } from '#lib/exact-json/parse.ts';
import { redactAuthorization } from '#lib/redact-authorization.ts';
import { cut } from '#lib/text.ts';
import type { StandIn } from './rehearse.ts';

export type ResultRecord = Pick<
  ToolRecord,
  'isError' | 'result' | 'resultLength' | 'structured' | 'structuredLength' | 'attachments'
>;

export interface ReadResult {
  readonly record: ResultRecord;
  /** Text for the model, not yet fenced. */
  readonly text: string;
}

/**
 * Reads a tool's result: its text, its structured content unless the text repeats it, and references to other parts.
 */
export function readResult(result: ToolResult, secrets: readonly string[]): ReadResult {
  const attachments: ToolAttachment[] = [];
  const parts = result.content.map((block) => readBlock(block, attachments));
  const text = redact(parts.join('\n'), secrets);
  const structured =
    result.structuredContent === undefined ? null : redact(JSON.stringify(result.structuredContent), secrets);
  const repeated =
    structured !== null && parts.some((part) => isDeepStrictEqual(parseJson(part), result.structuredContent));
  const forModel = structured === null || repeated ? text : [text, structured].join('\n').trim();
  return {
    text: forModel,
    record: {
      isError: result.isError === true,
      result: cut(text, SHOWN_LENGTH),
      resultLength: text.length,
      structured: structured === null ? null : cut(structured, SHOWN_LENGTH),
      structuredLength: structured?.length ?? null,
      attachments: attachments.slice(0, MAX_ATTACHMENTS).map((each) => ({
        ...each,
        uri: each.uri === null ? null : redact(each.uri, secrets),
      })),
    },
  };
}

/** Returns the record of a call that has no result. */
export function noResult(): ResultRecord {
  return {
    isError: true,
    result: null,
    resultLength: null,
    structured: null,
    structuredLength: null,
    attachments: [],
  };
}

const MAX_ATTACHMENTS = 50;
const MAX_URI_LENGTH = 2_000;

function readBlock(part: ContentPart, attachments: ToolAttachment[]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'link': {
      const uri = cut(part.uri, MAX_URI_LENGTH);
      const mimeType = shortType(part.mimeType);
      attachments.push({ kind: 'link', mimeType, bytes: null, sha256: null, uri });
      return `[link: ${part.name} ${uri}]`;
    }
    case 'unreadable':
      return `[a part of the answer that cannot be read: ${part.why}]`;
    default:
      return attach(attachments, part);
  }
}

function attach(
  attachments: ToolAttachment[],
  { type, data: base64, ...claimed }: Extract<ContentPart, { readonly data: string }>,
): string {
  const data = Buffer.from(base64, 'base64');
  const mimeType = shortType(claimed.mimeType);
  const sha256 = createHash('sha256').update(data).digest('hex');
  const uri = claimed.uri === null ? null : cut(claimed.uri, MAX_URI_LENGTH);
  attachments.push({ kind: type, mimeType, bytes: data.length, sha256, uri });
  return `[${type}: ${mimeType ?? 'unknown type'}, ${data.length} bytes, sha256 ${sha256}]`;
}

function shortType(mimeType: string | null): string | null {
  return mimeType === null ? null : cut(mimeType, 100);
}

/**
 * Removes secrets from a text before it is recorded or shown to a model: the given secrets, and any text that has the
 * form of a credential.
 */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH)) {
    const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
    for (const form of new Set([secret, encodeURIComponent(secret), base64])) {
      clean = clean.replaceAll(form, MARK);
    }
  }
  return redactAuthorization(clean).replaceAll(TOKEN, MARK);
}

const MARK = '[redacted]';

/** Shortest secret that is removed: a shorter secret could be an ordinary word. */
const MIN_SECRET_LENGTH = 6;

/** Matches credentials by the prefixes that issuers chose for finding leaks. */
const TOKEN =
  /\b(?:sk-[\w-]{20,}|gh[pousr]_\w{30,}|github_pat_\w{30,}|xox[abprs]-[\w-]{10,}|whsec_[\w+/=]{20,}|AKIA[0-9A-Z]{16})/g;

/** A tool call as its step shows it. Secrets are removed, long texts are cut, and the full lengths are recorded. */
export interface ToolRecord {
  /** Name of the tool for the model. */
  readonly name: string;
  /** The server's own name for the tool; null for a tool that was never offered. */
  readonly toolName: string | null;
  readonly connectionId: string | null;
  /** Name of the connection at the time of the call. */
  readonly connectionName: string | null;
  readonly policyId: string | null;
  readonly arguments: string | null;
  readonly argumentsLength: number | null;
  readonly isError: boolean | null;
  readonly result: string | null;
  readonly resultLength: number | null;
  /** Structured content as JSON text. */
  readonly structured: string | null;
  readonly structuredLength: number | null;
  readonly attachments: readonly ToolAttachment[];
  /** First model step that was sent without the result, to make room; absent while the result is sent. */
  readonly omittedFromStep?: number;
  /** Set on a call that was refused after it had been planned. */
  readonly refused?: true;
  /** Set on a call that was held: its action, and the name under which later calls of the run refer to it. */
  readonly action?: { readonly id: string; readonly name: string };
  /** Set on a call of a held tool that a standing rule let through. */
  readonly rule?: { readonly id: string; readonly words: string };
  /** Set on a staged call of a rehearsal: the kind of its stand-in. */
  readonly rehearsed?: StandIn;
}

/** Describes a part of a tool's result that is not text, without its content. */
export interface ToolAttachment {
  readonly kind: 'image' | 'audio' | 'resource' | 'link';
  readonly mimeType: string | null;
  readonly bytes: number | null;
  /** Digest of the content, in hexadecimal. */
  readonly sha256: string | null;
  readonly uri: string | null;
}

/** A call that is still to be made, with its input, which is removed after the call. */
export interface PendingTool extends ToolRecord {
  readonly callId: string;
  readonly input: unknown;
  /** True when the call is not made: there is no such tool, its arguments are unusable, or there are too many calls. */
  readonly rejected: boolean;
}

/** A call of a response, with the error if the call will not be made. */
export type PlannedCall = PendingTool & { readonly error: string | null };

export const SHOWN_LENGTH = 16_000;
