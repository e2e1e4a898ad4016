export { CHAT_KINDS, chatKindOf, type ChatKind } from './address.ts';
export { judgeChat, type ChatVerdict } from './judge.ts';
export { renderChat, type ChatMessage } from './render.ts';
