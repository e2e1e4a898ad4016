import { tmpdir } from 'node:os';
import path from 'node:path';

/** Folder of the pictures; never in the repository. */
export const SHOTS = process.env['UI_SHOTS'] ?? path.join(tmpdir(), 'routine-automation-ui');

/** Where pictures for the documentation go; only when it is named, so that a test changes no file of the repository. */
export const { UI_PICTURES: PICTURES } = process.env;
