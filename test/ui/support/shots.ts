import { tmpdir } from 'node:os';
import path from 'node:path';

/** Folder of the pictures, where they are asked for; without it pages are checked and no picture is taken. */
export const { UI_SHOTS: SHOTS } = process.env;

/** Folder of what a failed test showed last; never in the repository. */
export const FAILED_SHOTS = SHOTS ?? path.join(tmpdir(), 'routine-automation-ui');

/** Folder for pictures of the documentation; unset by default, so that a test changes no file of the repository. */
export const { UI_PICTURES: PICTURES } = process.env;
