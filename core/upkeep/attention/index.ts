export { readAttention, type Attention } from './attention.ts';
