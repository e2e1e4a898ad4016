/** The scope that every request to the tool server needs. */
export const TOOLS_SCOPE = 'tools';
/** The additional scope that a tool call may need. */
export const WRITE_SCOPE = 'tools:write';
export const ALL_SCOPES = `${TOOLS_SCOPE} ${WRITE_SCOPE}`;
