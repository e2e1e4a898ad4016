import type { RunEvent, RunTextEvent } from 'routine-automation-sdk';
import type { Context } from '../context.ts';
import { withRun } from '../find.ts';
import { plain } from '../output/plain.ts';
import { lineOf } from './progress.ts';
import { sentenceOf } from './wait.ts';

/** Writes the steps of a run; with `follow` also the later ones, until it has ended. */
export async function logs(context: Context, given: string, { follow = false }): Promise<void> {
  await withRun(context, given, async (ras, id) => {
    const log = context.isForPeople
      ? logForPeople(context)
      : ({ event, data }: RunEvent | RunTextEvent) => {
          context.out.jsonLine({ event, data });
        };
    if (follow) {
      const signal = context.interrupted();
      for await (const event of ras.runs.follow(id, { signal, text: true })) log(event);
      if (context.isForPeople) context.say(sentenceOf(await ras.runs.read(id)));
      return;
    }
    for await (const step of ras.runs.steps(id, { limit: 50 })) log({ event: 'step', data: step, id: undefined });
  });
}

/** Writes an event as a line and the texts below it. The text of a running step is written as it arrives. */
function logForPeople({ out }: Context): (event: RunEvent | RunTextEvent) => void {
  let said = '';
  const write = (text: string) => {
    out.part(`${said === '' || said.endsWith('\n') ? '  ' : ''}${indented(text)}`);
    said += text;
  };
  const endText = () => {
    if (said !== '' && !said.endsWith('\n')) out.text('');
    said = '';
  };
  return (event) => {
    if (event.event === 'text') {
      const { begins, text } = event.data;
      if (begins) endText();
      write(text);
      return;
    }
    if (event.event === 'state') {
      // Leave out the end of the run: the sentence that follows says more about it.
      if (event.data.finishedAt === null) out.text(lineOf(event));
      return;
    }
    const { text, tool } = event.data;
    const isBegun = said !== '' && text?.startsWith(said) === true;
    if (isBegun) write(text.slice(said.length));
    endText();
    out.text(lineOf(event));
    for (const part of [isBegun ? null : text, tool?.arguments, tool?.result]) {
      if (part) out.text(`  ${indented(plain(part).trimEnd())}`);
    }
  };
}

/** Indents all lines but the first. */
function indented(text: string): string {
  return text.replaceAll(/\n(?=[^\n])/g, '\n  ');
}
