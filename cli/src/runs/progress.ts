import type { RunEvent } from 'routine-automation-sdk';
import type { Context } from '../context.ts';
import { hasColor } from '../output/output.ts';
import { plainLine } from '../output/plain.ts';
import { cut } from '../output/table.ts';
import { between, count, duration } from '../output/words.ts';

export interface Progress {
  report(event: RunEvent): void;
  end(): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;
/** Moves to the first column and clears the line. */
const CLEAR = '\r\u001B[2K';

/** Shows the progress of a run on stderr: on a terminal one line that is redrawn, elsewhere a line for each event. */
export function reportProgress(context: Context): Progress {
  const { stderr, env } = context;
  const canRedraw = stderr.isTTY === true && env['TERM'] !== 'dumb';
  return canRedraw
    ? redrawn(context, hasColor(stderr, env))
    : { report: (event) => context.say(lineOf(event)), end: () => undefined };
}

function redrawn(context: Context, color: boolean): Progress {
  const { stderr } = context;
  const begun = context.now();
  let state = 'queued';
  let steps = 0;
  let last = '';
  let frame = 0;
  const draw = () => {
    const sign = FRAMES[(frame += 1) % FRAMES.length] ?? '';
    const facts = [state, duration(context.now() - begun), steps > 0 && count(steps, 'step'), last];
    const line = cut(facts.filter(Boolean).join(' · '), (stderr.columns || 80) - 3);
    stderr.write(`${CLEAR}${color ? `\u001B[36m${sign}\u001B[39m` : sign} ${line}`);
  };
  const timer = setInterval(draw, FRAME_MS);
  draw();
  return {
    report({ event, data }) {
      if (event === 'state') ({ state } = data);
      else {
        steps = data.index + 1;
        last = plainLine(data.tool?.name ?? data.modelId ?? data.kind);
      }
      draw();
    },
    end() {
      clearInterval(timer);
      stderr.write(CLEAR);
    },
  };
}

/** Describes an event in one line. */
export function lineOf({ event, data }: RunEvent): string {
  if (event === 'state') return data.state;
  const { index, kind, modelId, tool, state, errorMessage, usage } = data;
  const facts = [
    `step ${index}`,
    kind,
    tool?.name ?? modelId,
    state.replaceAll('_', ' '),
    between(data.startedAt, data.finishedAt),
    usage.totalTokens > 0 && count(usage.totalTokens, 'token'),
    errorMessage,
  ];
  return facts.filter(Boolean).join(' · ');
}
