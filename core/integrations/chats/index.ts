export {
  changeChat,
  chatsByName,
  createChat,
  deleteChat,
  forgetChats,
  listChats,
  markChatGone,
  readChat,
  type Chat,
} from './chats.ts';
export { postToChat, sendTestMessage, type ChatExchange } from './post.ts';
