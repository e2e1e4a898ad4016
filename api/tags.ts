/** The groups of operations in OpenAPI, in the order of the documentation. */
export const TAGS = {
  Models: 'The models that routines can run on.',
  Skills: 'Reusable instructions, curated and your own.',
  Routines: 'Recurring work: instructions, a schedule, a model.',
  Schedules: 'Times that schedules have.',
  Tools: 'What a routine may call, each tool off until a person confirms it.',
  Connections: 'Access to tool servers and managed providers.',
  'Model accounts': 'Personal accounts at connected model providers, for routines to run on.',
  Results: 'What runs have brought, and what of it is new.',
  Runs: 'Executions of routines, step by step.',
  'Organizations and projects': 'Who works where. Sessions only.',
  Members: 'Who belongs to an organization, and who is invited. Sessions only.',
  Audit: 'Who changed what. Sessions only.',
  Accounts: 'Signing up and in, with e-mail address and password.',
  Sessions: 'Where you are signed in. Sessions only.',
  'API keys': 'Access for automation. Sessions only.',
  Billing: 'What an organization pays for and may use. Sessions only.',
  Operations: 'For those who run the service.',
} as const;

export type Tag = keyof typeof TAGS;
