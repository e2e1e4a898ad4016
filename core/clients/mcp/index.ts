export { checkToolServer, openToolSession } from './session.ts';
export { unseenCharacter, type ToolDefinition } from './definition.ts';
export { ToolServerError, type ToolServerErrorKind } from './error.ts';
export { findTool, listAllTools, type ListedTools, type SkippedTool } from './list-tools.ts';
export type { ContentPart, ToolResult } from './read-result.ts';
export { fixedCredentials, type RequestCredentials, type ServerInfo, type ToolServer } from './server.ts';
export { createToolSessions, type LeasedSession, type ToolSessions } from './sessions.ts';
