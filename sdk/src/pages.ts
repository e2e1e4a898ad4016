import type { Reply } from './call.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
  readonly requestId: string | undefined;
}

/** A list, newest first: `for await` reads each page when it is needed. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #read: (cursor: string | undefined) => PromiseLike<Reply<readonly T[]>>;

  constructor(read: (cursor: string | undefined) => PromiseLike<Reply<readonly T[]>>) {
    this.#read = read;
  }

  /** Reads one page: the first, or the one after the cursor. */
  async page(after?: Pick<Page<T>, 'nextCursor'>): Promise<Page<T>> {
    const { data, nextCursor, requestId } = await this.#read(after?.nextCursor);
    return { items: data, nextCursor, requestId };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let page = await this.page();
    yield* page.items;
    while (page.nextCursor !== undefined) {
      page = await this.page(page);
      yield* page.items;
    }
  }

  /** Collects up to `limit` items. */
  async toArray({ limit }: { readonly limit: number }): Promise<T[]> {
    const items: T[] = [];
    if (limit <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }
}
