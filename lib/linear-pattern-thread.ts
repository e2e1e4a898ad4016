import { serveJobs } from './bounded-thread.ts';
import { compilePattern, type PatternJob } from './linear-pattern.ts';

serveJobs(({ pattern, text }: PatternJob): boolean => compilePattern(pattern).matcher(text).find());
