/**
 * Entry of `npm run release:sbom -- [folder]`: writes the parts lists of a release, as CycloneDX and SPDX. The lists
 * have the packages that production installs. Each package needs its integrity in the lock file.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import packageJson from '../../../package.json' with { type: 'json' };

const execute = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../../..');
const [folder = path.join(ROOT, 'dist', 'sbom')] = process.argv.slice(2);
const FORMATS = { cyclonedx: 'cdx.json', spdx: 'spdx.json' } as const;

const loose = await withoutIntegrity();
if (loose.length > 0) throw new Error(`Without integrity in package-lock.json: ${loose.join(', ')}`);
await mkdir(folder, { recursive: true });
for (const [format, extension] of Object.entries(FORMATS)) {
  const flags = [`--sbom-format=${format}`, '--package-lock-only', '--workspaces=false'];
  const omit = ['--omit=dev', '--omit=peer', '--omit=optional'];
  const { stdout } = await execute('npm', ['sbom', ...flags, ...omit], {
    cwd: ROOT,
    maxBuffer: 256 * 1024 * 1024,
  });
  const file = path.join(folder, `routines-${packageJson.version}.${extension}`);
  await writeFile(file, stdout);
  const parsed = z
    .object({
      components: z.array(z.unknown()).optional(),
      packages: z.array(z.unknown()).optional(),
    })
    .parse(JSON.parse(stdout));
  const { length } = parsed.components ?? parsed.packages ?? [];
  console.log(`${path.relative(process.cwd(), file)}: ${length} packages`);
}

/** Lists packages without integrity, which npm would install from anywhere with any content. */
async function withoutIntegrity(): Promise<string[]> {
  const entry = z.object({
    link: z.boolean().optional(),
    integrity: z.string().optional(),
    resolved: z.string().optional(),
    inBundle: z.boolean().optional(),
  });
  const { packages } = z
    .object({ packages: z.record(z.string(), entry) })
    .parse(JSON.parse(await readFile(path.join(ROOT, 'package-lock.json'), 'utf8')));
  return Object.entries(packages)
    .filter(([name]) => name.includes('node_modules/'))
    .filter(([, each]) => each.link !== true && each.inBundle !== true)
    .filter(([, each]) => each.integrity === undefined)
    .map(([name]) => name);
}
