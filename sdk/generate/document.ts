/** Entry: `npm run -s sdk:document` writes the document for API keys to stdout, for generators of clients. */
import { documentFor } from '../../ui/generate/api-types.ts';

process.stdout.write(JSON.stringify(documentFor('keys')));
