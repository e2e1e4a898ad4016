/** Entry: runs the fixture model providers, and the authorization server at which people sign in. */
import { startSignInProviders } from './sign-in.ts';

const redirectUri = process.env['MODEL_REDIRECT_URI'];
const fixture = await startSignInProviders({
  ports: {
    providers: Number(process.env['MODEL_PROVIDERS_PORT'] ?? 4012),
    authorizationServer: Number(process.env['MODEL_SIGN_IN_PORT'] ?? 4013),
  },
  redirectUris: redirectUri === undefined ? [] : [redirectUri],
  log: console.log,
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void fixture.stop().then(() => process.exit(0)));
}

console.log(`Fixture model providers: ${Object.values(fixture.providers.baseUrls).join(', ')}`);
console.log(`They sign people in at ${fixture.authorizationServer.issuer}`);
