export {
  assertUsableSchema,
  readableSchema,
  SchemaBusyError,
  SchemaError,
  schemaFault,
  schemaRefusal,
} from './check.ts';
export { NAMED_SUBSCHEMAS, SUBSCHEMAS } from './leave-out.ts';
export { refuseLongNumbers } from './long-numbers.ts';
export { sampleOf } from './sample.ts';
