import type { Command } from 'commander';
import type { Context } from '../context.ts';

/** Adds the commands of routines as files. */
export function registerFiles(_program: Command, _context: Context): void {}
