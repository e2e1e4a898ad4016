import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';

test('the command makes an authority, a certificate for the hosts it names and a private key', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ras-certificates-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const target = path.join(folder, 'tls');
  const made = spawnSync(process.execPath, ['runtime/certificates/main.ts', target, 'runtime.internal', '10.0.0.7'], {
    encoding: 'utf8',
  });
  expect(made.stderr).toBe('');
  const read = (name: string) => readFileSync(path.join(target, name), 'utf8');
  const [ca, cert] = [new X509Certificate(read('ca.pem')), new X509Certificate(read('cert.pem'))];
  expect(ca.ca).toBe(true);
  expect(cert.ca).toBe(false);
  expect(cert.verify(ca.publicKey)).toBe(true);
  expect(cert.checkHost('runtime.internal')).toBe('runtime.internal');
  expect(cert.checkIP('10.0.0.7')).toBe('10.0.0.7');
  expect(cert.checkHost('other.internal')).toBeUndefined();
  expect(statSync(path.join(target, 'key.pem')).mode & 0o777).toBe(0o600);
  expect(made.stdout).toContain('MODEL_RUNTIME_CA_FILE=');
  // Existing files are not overwritten.
  const again = spawnSync(process.execPath, ['runtime/certificates/main.ts', target, 'x.internal']);
  expect(again.status).not.toBe(0);
  expect(new X509Certificate(read('cert.pem')).serialNumber).toBe(cert.serialNumber);
});

test('without a host the command says how it is used', () => {
  const { status, stderr } = spawnSync(process.execPath, ['runtime/certificates/main.ts'], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining('runtime:certificates')]);
});
