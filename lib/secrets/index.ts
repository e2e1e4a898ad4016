export { SEALED_COLUMNS, type SealedColumn } from './columns.ts';
export { rotateSecrets, type RotatedColumn, type RotationOptions } from './rotate.ts';
export { createSecretBox, type SecretBox, type SecretPlace } from './secret-box.ts';
