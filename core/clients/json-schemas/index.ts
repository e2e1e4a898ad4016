export { assertUsableSchema, SchemaBusyError, SchemaError, schemaFault, schemaRefusal } from './check.ts';
