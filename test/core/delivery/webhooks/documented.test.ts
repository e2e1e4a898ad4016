import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateWebhookSecret } from '#core/authoring/routines/webhook.ts';
import { RETRY_LADDER_MS } from '#core/delivery/webhooks/delivery.ts';
import { signedHeaders } from '#core/delivery/webhooks/attempt.ts';

const PAGE = readFileSync(path.join(import.meta.dirname, '../../../../docs/webhooks.md'), 'utf8');
const GO_MODULE = 'github.com/standard-webhooks/standard-webhooks/libraries';
const INSTALL_MS = 240_000;

const secret = generateWebhookSecret();
const body = '{"type":"run.succeeded","data":{"result":"ça va"}}';
const headers = signedHeaders({ id: 'whd_1', sentAt: new Date(), body }, [secret]);
let folder: string;

beforeAll(() => {
  // A folder within node_modules, so that a script there finds the installed packages.
  const home = path.join(import.meta.dirname, '../../../../node_modules/.cache');
  mkdirSync(home, { recursive: true });
  folder = mkdtempSync(path.join(home, 'webhooks-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the page's snippet for a language. */
function snippet(language: string): string {
  const found = new RegExp('```' + language + '\\n([\\s\\S]*?)```').exec(PAGE)?.[1];
  if (found === undefined) throw new Error(`the page has no ${language}`);
  return found;
}

function write(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: 'pipe',
    timeout: INSTALL_MS,
  });
}

/** Returns the reason why a toolchain cannot be used here; undefined if it can. */
function whyNot(prepare: () => void): string | undefined {
  try {
    prepare();
    return undefined;
  } catch (error) {
    return `not available here: ${String(error).slice(0, 200)}`;
  }
}

/** Input of each receiver: a right body and a changed one. The receiver prints a verdict for each. */
const CASES = JSON.stringify({ secret, headers, bodies: [body, body.replace('va', 'ba')] });
const VERDICTS = ['run.succeeded', 'refused'];

test('the snippet for Node takes what we sign, and refuses what was changed', () => {
  const file = write(
    'receive.mjs',
    `${snippet('js')}
const { secret, headers, bodies } = ${CASES};
for (const body of bodies) {
  try { console.log(receive(secret, body, headers).type); } catch { console.log('refused'); }
}`,
  );
  expect(run('node', [file]).trim().split('\n')).toEqual(VERDICTS);
});

test(
  'the snippet for Python takes what we sign, and refuses what was changed',
  (context) => {
    const site = path.join(folder, 'site');
    const reason = whyNot(() =>
      run('python3', ['-m', 'pip', 'install', '-q', '--target', site, 'standardwebhooks==1.1.0']),
    );
    context.skip(reason !== undefined, reason);
    const file = write(
      'receive.py',
      `import json, sys
sys.path.insert(0, ${JSON.stringify(site)})
${snippet('python')}
cases = json.loads(${JSON.stringify(CASES)})
for body in cases["bodies"]:
    try:
        print(receive(cases["secret"], body, cases["headers"])["type"])
    except Exception:
        print("refused")
`,
    );
    const said = run('python3', [file]);
    expect(said.trim().split('\n')).toEqual(VERDICTS);
  },
  INSTALL_MS,
);

test(
  'the snippet for Go takes what we sign, and refuses what was changed',
  (context) => {
    const go = path.join(folder, 'go');
    mkdirSync(go);
    writeFileSync(path.join(go, 'go.mod'), `module receiver\n\ngo 1.22\n\nrequire ${GO_MODULE} v0.0.1\n`);
    writeFileSync(path.join(go, 'receiver.go'), snippet('go'));
    const reason = whyNot(() => run('go', ['-C', go, 'mod', 'tidy']));
    context.skip(reason !== undefined, reason);
    writeFileSync(
      path.join(go, 'receiver_test.go'),
      `package receiver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

func TestReceive(t *testing.T) {
	var cases struct {
		Secret  string
		Headers map[string]string
		Bodies  []string
	}
	if err := json.Unmarshal([]byte(${JSON.stringify(CASES)}), &cases); err != nil {
		t.Fatal(err)
	}
	headers := http.Header{}
	for name, value := range cases.Headers {
		headers.Set(name, value)
	}
	for _, body := range cases.Bodies {
		event, err := Receive(cases.Secret, []byte(body), headers)
		if err != nil {
			fmt.Println("refused")
			continue
		}
		fmt.Println(event["type"])
	}
}
`,
    );
    const said = run('go', ['-C', go, 'test', '-v', './...']).split('\n');
    expect(said.filter((line) => VERDICTS.includes(line))).toEqual(VERDICTS);
  },
  INSTALL_MS,
);

test('the page has the waiting times that are kept', () => {
  const cells = /\| wait before it \|(.*)\|/.exec(PAGE)?.[1]?.split('|') ?? [];
  const waits = cells.slice(1).map((cell) => {
    const [, count, unit] = /^ (\d+) (min|h) $/.exec(cell) ?? [];
    return Number(count) * (unit === 'h' ? 3_600_000 : 60_000);
  });
  expect(waits).toEqual(RETRY_LADDER_MS);
});
