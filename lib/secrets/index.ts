export { checkEncryptionKey, UnknownKey } from './check-key.ts';
export { SEALED_COLUMNS } from './rotate.ts';
export { rotateSecrets } from './rotate.ts';
export { createSecretBox, SecretUnreadable, type SecretBox, type SecretPlace } from './secret-box.ts';
