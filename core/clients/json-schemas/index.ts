export { assertUsableSchema, SchemaBusyError, SchemaError, schemaFault, schemaRefusal } from './check.ts';
export { refuseLongNumbers } from './long-numbers.ts';
