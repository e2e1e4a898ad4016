/** Entry: runs the fixture gateway on GATEWAY_PORT, with the manners of GATEWAY_MANNER. */
import { assertPortFree } from '../../stack/ports.ts';
import { startGateway } from './server.ts';

const port = Number(process.env['GATEWAY_PORT'] ?? 4010);
await assertPortFree(port, 'GATEWAY_PORT');
const gateway = await startGateway({ port, log: console.log });
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void gateway.stop().then(() => process.exit(0)));
}

console.log(`Fixture gateway: ${gateway.url}`);
