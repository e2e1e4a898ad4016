import { isRecord, memberOf, tokensOf, valueAt } from './json-pointer.ts';

/**
 * Hints of a JSON Schema for a place in its data. The data may be older or newer than the schema, so hints that do not
 * fit are left out.
 */
export class SchemaHints {
  readonly #root: unknown;
  readonly #node: unknown;

  constructor(root: unknown, node: unknown) {
    this.#root = root;
    this.#node = resolved(root, node);
  }

  /** Returns the title, for people; undefined without one. */
  get title(): string | undefined {
    return textIn(this.#node, 'title');
  }

  get description(): string | undefined {
    return textIn(this.#node, 'description');
  }

  get format(): string | undefined {
    return textIn(this.#node, 'format');
  }

  get isNumber(): boolean {
    const type = memberOf(this.#node, 'type');
    const types: readonly unknown[] = Array.isArray(type) ? type : [type];
    return types.includes('number') || types.includes('integer');
  }

  /** Returns the only texts that are allowed; empty if any text is allowed. */
  get choices(): readonly string[] {
    const values = memberOf(this.#node, 'enum');
    return Array.isArray(values) ? values.filter((each) => typeof each === 'string') : [];
  }

  get isBoolean(): boolean {
    return memberOf(this.#node, 'type') === 'boolean';
  }

  get isText(): boolean {
    return memberOf(this.#node, 'type') === 'string';
  }

  /** Returns the names of the members in the order of the schema. */
  get members(): readonly string[] {
    const properties = memberOf(this.#node, 'properties');
    return isRecord(properties) ? Object.keys(properties) : [];
  }

  member(name: string): SchemaHints {
    return this.#at(memberOf(memberOf(this.#node, 'properties'), name));
  }

  /** Returns the hints for the items of a list. */
  get items(): SchemaHints {
    return this.#at(memberOf(this.#node, 'items'));
  }

  at(pointer: string): SchemaHints {
    return tokensOf(pointer).reduce<SchemaHints>((hints, token) => hints.member(token), this);
  }

  #at(node: unknown): SchemaHints {
    return new SchemaHints(this.#root, node);
  }
}

/** The most references that are followed, because a schema may refer to itself. */
const MAX_REFERENCES = 8;

/** Follows references inside of the schema, and takes the first alternative that is not null. */
function resolved(root: unknown, start: unknown): unknown {
  let node = start;
  for (let count = 0; count < MAX_REFERENCES; count += 1) {
    const reference = memberOf(node, '$ref');
    const alternatives = memberOf(node, 'anyOf') ?? memberOf(node, 'oneOf');
    if (typeof reference === 'string' && reference.startsWith('#')) {
      node = valueAt(root, reference.slice(1));
    } else if (Array.isArray(alternatives)) {
      node = alternatives.find((each) => memberOf(each, 'type') !== 'null');
    } else {
      return node;
    }
  }
  return undefined;
}

function textIn(node: unknown, name: string): string | undefined {
  const text = memberOf(node, name);
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}
