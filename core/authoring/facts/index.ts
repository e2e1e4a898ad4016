export { KEPT_FACTS, MAX_FACTS, readFacts, writeFacts } from './facts.ts';
export { forgetFactsOf, listFactsVersions, readFactsVersion, type ToldFacts } from './versions.ts';
