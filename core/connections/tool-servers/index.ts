export { changeConnection } from './change.ts';
export { createToolServer } from './create.ts';
export { refusal } from './refusal.ts';
export { toolServerOf } from './tool-server.ts';
