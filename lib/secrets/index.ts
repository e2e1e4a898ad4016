export { SEALED_COLUMNS } from './columns.ts';
export { rotateSecrets } from './rotate.ts';
export { createSecretBox, type SecretBox, type SecretPlace } from './secret-box.ts';
