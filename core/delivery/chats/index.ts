export {
  CHAT_FAILURES,
  deleteChatDeliveries,
  enqueueChats,
  eraseChatResponses,
  listChatDeliveries,
  redeliverToChat,
  type ChatDelivery,
} from './deliveries.ts';
export { chatKind, type ChatDeps } from './send.ts';
