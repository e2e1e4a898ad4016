/** A tool call as its step shows it: secrets taken out, long texts cut, with the length they had. */
export interface ToolRecord {
  /** As the model calls it. */
  readonly name: string;
  /** As the server calls it; null for a tool that was never offered. */
  readonly toolName: string | null;
  readonly connectionId: string | null;
  readonly policyId: string | null;
  /** JSON text. */
  readonly arguments: string | null;
  readonly argumentsLength: number | null;
  readonly isError: boolean | null;
  readonly result: string | null;
  readonly resultLength: number | null;
  /** JSON text of the structured content. */
  readonly structured: string | null;
  readonly structuredLength: number | null;
  readonly attachments: readonly ToolAttachment[];
}

/** Something a tool answered with that is not text: what it was, not the thing itself. */
export interface ToolAttachment {
  readonly kind: 'image' | 'audio' | 'resource' | 'link';
  readonly mimeType: string | null;
  readonly bytes: number | null;
  /** In hex. */
  readonly sha256: string | null;
  readonly uri: string | null;
}

/** What the step row holds besides: what is needed to make the call, gone once it is made. */
export interface PendingTool extends ToolRecord {
  readonly callId: string;
  readonly input: unknown;
  /** The call was answered without anybody being asked: no such tool, or no usable arguments. */
  readonly rejected: boolean;
}

/** `error` says why the call will not be made. */
export type PlannedCall = PendingTool & { readonly error: string | null };

export const SHOWN_LENGTH = 16_000;

/** The start of a text, never half of a character. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).toWellFormed();
}
