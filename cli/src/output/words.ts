/** Formats a time for this machine's locale and time zone. */
export function when(time: string | null | undefined): string | null {
  if (time == null) return null;
  const at = new Date(time);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Writes a length of time: "850 ms", "4.2 s", "3 min 20 s", "2 h 5 min". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats the time between two instants; null when one is missing. */
export function between(from: string | null, to: string | null): string | null {
  return from === null || to === null ? null : duration(Date.parse(to) - Date.parse(from));
}

export function count(n: number, one: string, several = `${one}s`): string {
  return `${n} ${n === 1 ? one : several}`;
}

interface Used {
  readonly totalTokens: number;
  readonly costUsd: string | null;
}

export function used({ totalTokens, costUsd }: Used): string {
  const tokens = count(totalTokens, 'token');
  return costUsd === null ? tokens : `${tokens}, $${costUsd}`;
}
