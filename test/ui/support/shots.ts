import { tmpdir } from 'node:os';
import path from 'node:path';

/** Where the pictures go; never into the repository. */
export const SHOTS = process.env['UI_SHOTS'] ?? path.join(tmpdir(), 'routine-automation-ui');
