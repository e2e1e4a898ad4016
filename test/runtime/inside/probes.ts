/** Runs within a sandbox: tries to reach things outside, and prints which it could reach. */
import { execSync, fork, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import dgram from 'node:dgram';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import os from 'node:os';

const [socketPath = '', outsidePort = '0'] = [process.argv[2], process.env['PORT']];

/** Each probe resolves if it reached its target, and throws if it did not. */
const probes: Record<string, () => unknown> = {
  'connect to the internet': () => connect(443, '1.1.1.1'),
  'connect to a loopback server': () => connect(Number(outsidePort), '127.0.0.1'),
  'connect over IPv6': () => connect(443, '2606:4700:4700::1111'),
  'connect to cloud metadata': () => connect(80, '169.254.169.254'),
  'send a datagram': async () => {
    const socket = dgram.createSocket('udp4');
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.send('x', 53, '8.8.8.8', (error) => (error === null ? resolve() : reject(error)));
    });
  },
  'resolve a name': () => dns.resolve('example.com'),
  'look a name up': () => dns.lookup('example.com'),
  'listen on a port': async () => {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
  },
  'see network interfaces': () => {
    const seen = Object.values(os.networkInterfaces()).flat();
    if (seen.every((each) => each?.internal !== false)) throw new Error('none');
  },
  'reach the abstract socket of a bus': () => connectPath('\0/tmp/.X11-unix/X0'),
  'reach the socket of docker': () => connectPath('/var/run/docker.sock'),
  'ask the broker for another path': () => ask('POST', '/admin'),
  'ask the broker before there is a job': () => ask('POST', '/messages'),
  'ask the broker for another host': () => ask('GET', 'http://169.254.169.254/latest'),
  'read /etc/passwd': () => fs.readFileSync('/etc/passwd'),
  'read /etc/shadow': () => fs.readFileSync('/etc/shadow'),
  'read /etc/resolv.conf': () => fs.readFileSync('/etc/resolv.conf'),
  'list /home': () => fs.readdirSync('/home'),
  'list /root': () => fs.readdirSync('/root'),
  'list /usr/local': () => fs.readdirSync('/usr/local'),
  'list /usr/src': () => fs.readdirSync('/usr/src'),
  'list /usr/share': () => fs.readdirSync('/usr/share'),
  'open memory without end': () => fs.openSync('/dev/zero', 'r'),
  'list /var': () => fs.readdirSync('/var'),
  'list /sys': () => fs.readdirSync('/sys'),
  'list /proc': () => fs.readdirSync('/proc'),
  'read the environment of its parent': () => fs.readFileSync('/proc/1/environ'),
  'read the environment of the product': () => fs.readFileSync('/app/.env'),
  'read the configuration of the product': () => fs.readdirSync('/app/lib/config'),
  'read the state of a local start': () => fs.readdirSync('/app/.data'),
  'find a secret in its environment': () => {
    const names = Object.keys(process.env).filter((name) => name !== 'PWD');
    if (names.length === 0) throw new Error('empty');
  },
  'write the code': () => fs.writeFileSync('/app/runtime/session/session.ts', ''),
  'add a file to the code': () => fs.writeFileSync('/app/x', ''),
  'write /usr': () => fs.writeFileSync('/usr/x', ''),
  'write /': () => fs.writeFileSync('/x', ''),
  'write /run': () => fs.writeFileSync('/run/x', ''),
  'write /dev': () => fs.writeFileSync('/dev/x', ''),
  'write /dev/shm': () => fs.writeFileSync('/dev/shm/x', ''),
  'replace the socket of the broker': () => fs.rmSync(socketPath),
  'make the code writable': () => fs.chmodSync('/app/package.json', 0o666),
  'open a disk': () => fs.openSync('/dev/sda', 'r'),
  'read memory by a device': () => fs.openSync('/dev/mem', 'r'),
  'start a program': () => ok(spawnSync('/usr/bin/prlimit', ['--version'])),
  'start a shell': () => execSync('/usr/bin/true', { shell: '/usr/bin/sh' }),
  'start another Node': async () => {
    const child = spawn(process.execPath, ['-e', '0']);
    await once(child, 'spawn');
  },
  'fork itself': async () => once(fork('/app/runtime/session/session.ts'), 'spawn'),
  'make a namespace': () => ok(spawnSync('/usr/bin/unshare', ['-Ur', '/usr/bin/true'])),
  'become root': () => process.setuid?.(0),
  'signal the process outside': () => {
    // The process's own threads have low numbers.
    for (let pid = 100; pid < 40_000; pid += 1) {
      try {
        process.kill(pid, 0);
        return;
      } catch {
        // There is no such process.
      }
    }
    throw new Error('none');
  },
};

const got: string[] = [];
for (const [name, probe] of Object.entries(probes)) {
  try {
    await probe();
    got.push(name);
  } catch {
    // The probe was stopped.
  }
}
process.stdout.write(`${JSON.stringify({ tried: Object.keys(probes).length, got })}\n`);
process.exit();

function connect(port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = net.createConnection({ port, host, timeout: 1_500 });
    socket.once('connect', resolve);
    socket.once('error', reject);
    socket.once('timeout', () => reject(new Error('silent')));
  });
}

function connectPath(path: string): Promise<unknown> {
  const socket = net.createConnection({ path });
  return once(socket, 'connect');
}

function ask(method: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath, method, path }, ({ statusCode }) =>
      statusCode === 403 ? reject(new Error('refused')) : resolve(),
    );
    request.once('error', reject);
    request.end('{}');
  });
}

function ok({ status }: { status: number | null }): void {
  if (status !== 0) throw new Error('failed');
}
