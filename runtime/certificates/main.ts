/** Entry: `npm run runtime:certificates -- <folder> <host>…` makes the certificates of a runtime. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { issueCertificates } from './issue.ts';

const [folder, ...hosts] = process.argv.slice(2);
if (folder === undefined || hosts.length === 0) {
  process.stderr.write('Usage: npm run runtime:certificates -- <folder> <host or address of the runtime>…\n');
  process.exit(1);
}
const { ca, cert, key } = await issueCertificates(hosts);
mkdirSync(folder, { recursive: true, mode: 0o700 });
const written = {
  MODEL_RUNTIME_KEY_FILE: write(folder, 'key.pem', key, 0o600),
  MODEL_RUNTIME_CERT_FILE: write(folder, 'cert.pem', cert, 0o644),
  MODEL_RUNTIME_CA_FILE: write(folder, 'ca.pem', ca, 0o644),
};
for (const [variable, file] of Object.entries(written)) {
  process.stdout.write(`${variable}=${file}\n`);
}

function write(folder: string, name: string, text: string, mode: number): string {
  const file = path.resolve(folder, name);
  writeFileSync(file, `${text}\n`, { mode, flag: 'wx' });
  return file;
}
