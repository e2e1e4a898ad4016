import { serveJobs } from '#lib/bounded-thread.ts';
import { compilePattern, type PatternJob } from './compile.ts';

serveJobs(({ pattern, text }: PatternJob): boolean => compilePattern(pattern).matcher(text).find());
