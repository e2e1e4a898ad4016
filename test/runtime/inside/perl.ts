/** Runs within a sandbox: replaces Node by Perl, and runs the program on its standard input. */
import { readFileSync } from 'node:fs';

process.execve?.('/usr/bin/perl', ['perl', '-e', readFileSync(0, 'utf8')], {});
