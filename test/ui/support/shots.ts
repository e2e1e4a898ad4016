import { tmpdir } from 'node:os';
import path from 'node:path';

/** Folder for pictures. Without it pages are checked, but no picture is taken. */
export const { UI_SHOTS: SHOTS } = process.env;

/** Folder for the last pictures of failed tests. It is never in the repository. */
export const FAILED_SHOTS = SHOTS ?? path.join(tmpdir(), 'routine-automation-ui');

/** Folder for pictures of the documentation. Unset by default, so that a test changes no file of the repository. */
export const { UI_PICTURES: PICTURES } = process.env;
