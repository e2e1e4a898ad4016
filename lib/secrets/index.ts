export { SEALED_COLUMNS } from './rotate.ts';
export { rotateSecrets } from './rotate.ts';
export { createSecretBox, type SecretBox, type SecretPlace } from './secret-box.ts';
