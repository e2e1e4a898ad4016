import { serveJobs } from '#lib/bounded-thread.ts';
import { compilePattern } from './compile.ts';

export interface PatternJob {
  readonly pattern: string;
  readonly text: string;
}

serveJobs(({ pattern, text }: PatternJob): boolean => compilePattern(pattern).matcher(text).find());
