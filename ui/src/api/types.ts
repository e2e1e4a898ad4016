import type { components, paths } from './schema.d.ts';

/** A named shape of the API's document: `Shape<'Run'>`. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name];

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that support a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

type OperationOf<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never;

/** Data of a success: the content of the envelope, or the whole body without an envelope. */
export type DataOf<P extends keyof paths, M extends Method> = Unwrapped<SuccessOf<OperationOf<P, M>>>;

type SuccessOf<O> = O extends { responses: infer R } ? JsonOf<R[keyof R & (200 | 201 | 202)]> : never;
type JsonOf<R> = R extends { content: { 'application/json': infer B } } ? B : never;
type Unwrapped<B> = B extends { data: infer D; requestId: string } ? D : B;

export type ItemOf<P extends PathOf<'get'>> = DataOf<P, 'get'> extends readonly (infer Item)[] ? Item : never;

/** Input of a call: `path` and `query` parameters and a `body`, as far as the operation has them. */
export type InputOf<P extends keyof paths, M extends Method> = PathInput<OperationOf<P, M>> &
  QueryInput<OperationOf<P, M>> &
  BodyInput<OperationOf<P, M>>;

type PathInput<O> = O extends { parameters: { path: infer V } } ? { readonly path: V } : Nothing;
type QueryInput<O> = O extends { parameters: { query: infer V } }
  ? { readonly query: V }
  : O extends { parameters: { query?: infer V } }
    ? [V] extends [never]
      ? Nothing
      : { readonly query?: V }
    : Nothing;
type BodyInput<O> = O extends { requestBody: { content: { 'application/json': infer B } } }
  ? { readonly body: B }
  : O extends { requestBody?: { content: { 'application/json': infer B } } }
    ? { readonly body?: B }
    : Nothing;
/** A type that adds nothing to another type by `&`. */
// oxlint-disable-next-line typescript/no-empty-object-type -- has no fields on purpose
interface Nothing {}

/** The arguments of a call; none if every field of the input is optional. */
export type InputArgs<P extends keyof paths, M extends Method> =
  Nothing extends InputOf<P, M> ? [input?: InputOf<P, M>] : [input: InputOf<P, M>];
