export { createSecretBox, type SecretBox, type SecretPlace } from './secret-box.ts';
