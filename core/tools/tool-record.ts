/** A tool call as its step shows it: secrets are removed, and long texts are cut but keep their length on record. */
export interface ToolRecord {
  /** The name by which the model calls it. */
  readonly name: string;
  /** The server's own name for it; null for a tool that was never offered. */
  readonly toolName: string | null;
  readonly connectionId: string | null;
  /** Name of the connection when the call was asked for. */
  readonly connectionName: string | null;
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
  /** The model step from which on the model was not sent the result again, to make room; none while it is. */
  readonly omittedFromStep?: number;
  /** Set on a call that was decided against, after it had been planned. */
  readonly refused?: true;
}

/** A part of a tool's result that is not text: its description, not the content itself. */
export interface ToolAttachment {
  readonly kind: 'image' | 'audio' | 'resource' | 'link';
  readonly mimeType: string | null;
  readonly bytes: number | null;
  /** Digest of the content, in hexadecimal. */
  readonly sha256: string | null;
  readonly uri: string | null;
}

/** A call that is still to be made, with what is needed to make it; the input is removed when the call is over. */
export interface PendingTool extends ToolRecord {
  readonly callId: string;
  readonly input: unknown;
  /**
   * True when the call is not made at all: there is no such tool, its arguments are unusable, or there were too many.
   */
  readonly rejected: boolean;
}

/** A call of a response, with the error for which it will not be made. */
export type PlannedCall = PendingTool & { readonly error: string | null };

export const SHOWN_LENGTH = 16_000;
