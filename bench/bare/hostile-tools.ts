/** The tool server that misbehaves, as a process of its own: what it sends takes time to write. */
import { startHostileTools } from '#dev/hostile-tools/server.ts';

await startHostileTools({ port: Number(process.env['PORT']) });
