/** The scope that the tool server of this fixture asks for. */
export const TOOLS_SCOPE = 'tools';
