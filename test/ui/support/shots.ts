import { tmpdir } from 'node:os';
import path from 'node:path';

/** Folder of the pictures; never in the repository. */
export const SHOTS = process.env['UI_SHOTS'] ?? path.join(tmpdir(), 'routine-automation-ui');
