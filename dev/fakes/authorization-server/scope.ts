/** The scope that the tool server of this fixture asks for. */
export const TOOLS_SCOPE = 'tools';
/** Scope that it may ask for besides, once a tool is called. */
export const WRITE_SCOPE = 'tools:write';
export const ALL_SCOPES = `${TOOLS_SCOPE} ${WRITE_SCOPE}`;
