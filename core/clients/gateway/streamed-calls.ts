import { isJsonObject, type JsonObject } from '#lib/json.ts';

interface WholeCall {
  id?: string;
  readonly type: 'function';
  readonly function: { readonly name: string; arguments: string };
  readonly extra_content?: unknown;
}

/** Reads the calls of an unstreamed message. Some servers send objects as arguments, or the old API's single call. */
export function wholeCalls({ tool_calls: calls, function_call: old }: JsonObject): WholeCall[] {
  return piecesOf(calls, old).map((piece) => {
    const call = new OpenCall();
    call.add(piece);
    return call.whole();
  });
}

function piecesOf(calls: unknown, old: unknown): Piece[] {
  const parts = Array.isArray(calls) ? calls : [calls];
  return [...parts, isJsonObject(old) ? { function: old } : undefined].flatMap((part) =>
    isJsonObject(part) ? [pieceOf(part)] : [],
  );
}

/** A piece of a call in a delta; missing parts are undefined. */
interface Piece {
  readonly index: string | null;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly args: string;
  /** True when the arguments came as one whole value. */
  readonly isWhole: boolean;
  readonly extra: unknown;
}

function pieceOf(part: JsonObject): Piece {
  const { index, id, extra_content: extra } = part;
  const named = isJsonObject(part['function']) ? part['function'] : part;
  const { name, arguments: args = null } = named;
  const isText = typeof args === 'string';
  return {
    index: index === undefined || index === null ? null : JSON.stringify(index),
    id: typeof id === 'string' && id !== '' ? id : undefined,
    name: typeof name === 'string' && name !== '' ? name : undefined,
    args: isText ? args : args === null ? '' : JSON.stringify(args),
    isWhole: !isText && args !== null,
    extra,
  };
}

/**
 * Puts the calls of a stream together. Servers mark a new call by its index, by its id, or only by a name: another
 * name, or the same name once the call before is complete. Some servers repeat id and name with each piece, and some
 * give every call the index 0.
 */
export class StreamedCalls {
  private readonly calls: OpenCall[] = [];
  private readonly byIndex = new Map<string, OpenCall>();
  private readonly byId = new Map<string, OpenCall>();
  private last: OpenCall | undefined;

  /** Adds the pieces of one delta. @returns whether the delta had any pieces */
  add({ tool_calls: calls, function_call: old }: JsonObject): boolean {
    const pieces = piecesOf(calls, old);
    for (const piece of pieces) this.addPiece(piece);
    return pieces.length > 0;
  }

  private addPiece(piece: Piece): void {
    const { index, id } = piece;
    const open = (id === undefined ? undefined : this.byId.get(id)) ?? this.openAt(piece);
    const isElsewhere = index !== null && this.byIndex.get(index) !== open;
    // The server repeats the whole call: skip the piece.
    if (!isElsewhere && open?.repeats(piece) === true) return;
    const call = open === undefined || open.isFollowedBy(piece, isElsewhere) ? this.begin(open, piece) : open;
    if (index !== null) this.byIndex.set(index, call);
    if (id !== undefined) this.byId.set(id, call);
    this.last = call;
    call.add(piece);
  }

  /** Returns the call that a piece without a known id continues: the call with its index, else the last call. */
  private openAt({ index, name }: Piece): OpenCall | undefined {
    if (index === null) return this.last;
    return this.byIndex.get(index) ?? (name === undefined ? this.last : undefined);
  }

  private begin(before: OpenCall | undefined, { name, args }: Piece): OpenCall {
    const call = new OpenCall(args === '' && before?.isNamed(name) === true);
    this.calls.push(call);
    return call;
  }

  whole(): WholeCall[] {
    return this.calls.filter((call) => !call.isEcho).map((call) => call.whole());
  }
}

class OpenCall {
  private id: string | undefined;
  private name = '';
  private args = '';
  private extra: unknown;
  private readonly balance = new Balance();
  private readonly mayBeEcho: boolean;

  /**
   * @param mayBeEcho true if the call began with only the name of the call before it: some servers repeat that name at
   * the end
   */
  constructor(mayBeEcho = false) {
    this.mayBeEcho = mayBeEcho;
  }

  get isEcho(): boolean {
    return this.mayBeEcho && this.args === '';
  }

  isNamed(name: string | undefined): boolean {
    return name === this.name;
  }

  /**
   * Tells whether a piece begins another call.
   * @param isElsewhere true if the piece's index is not the index of this call
   */
  isFollowedBy({ index, id, name, args }: Piece, isElsewhere: boolean): boolean {
    if (this.name === '' || (name === undefined && args.trim() === '')) return false;
    if (name !== undefined && name !== this.name) return true;
    const isOther = id !== undefined && this.id !== undefined && id !== this.id;
    if (!this.balance.isWhole) return isOther && index === null && name !== undefined;
    return isOther || (name !== undefined && (args.trim() !== '' || isElsewhere || id === undefined));
  }

  /** Tells whether a piece repeats this call unchanged. */
  repeats({ id, name, args }: Piece): boolean {
    return id !== undefined && id === this.id && name === this.name && this.balance.isWhole && args === this.args;
  }

  add({ id, name, args, isWhole, extra }: Piece): void {
    this.id ??= id;
    this.name ||= name ?? '';
    this.extra ??= extra;
    if (isWhole) {
      this.args = args;
      this.balance.reset();
    } else this.args += args;
    this.balance.add(args);
  }

  whole(): WholeCall {
    return {
      ...(this.id === undefined ? {} : { id: this.id }),
      type: 'function',
      function: { name: this.name, arguments: this.args },
      ...(this.extra === undefined ? {} : { extra_content: this.extra }),
    };
  }
}

/** Follows the brackets of a JSON text that arrives in pieces, so that no piece is read twice. */
class Balance {
  private depth = 0;
  private hasBegun = false;
  private isText = false;
  private isEscaped = false;

  /** True once a value has begun and every bracket is closed. */
  get isWhole(): boolean {
    return this.hasBegun && this.depth === 0 && !this.isText;
  }

  reset(): void {
    this.depth = 0;
    this.hasBegun = false;
    this.isText = false;
    this.isEscaped = false;
  }

  add(piece: string): void {
    const isEscaped = this.isEscaped && piece !== '';
    if (isEscaped) this.isEscaped = false;
    for (const sign of piece.slice(isEscaped ? 1 : 0).match(SIGNS) ?? []) {
      this.hasBegun = true;
      if (this.isText) {
        if (sign === '"') this.isText = false;
        else if (sign === '\\') this.isEscaped = true;
      } else if (sign === '"') this.isText = true;
      else if (sign === '{' || sign === '[') this.depth += 1;
      else if (sign === '}' || sign === ']') this.depth -= 1;
    }
  }
}

/** Matches the characters that change a balance, and runs of other characters that are no white space. */
const SIGNS = /\\[\s\S]?|["{}[\]]|[^\s"{}[\]\\]+/g;
