/** A schedule that cannot be accepted; `message` is one sentence that names the fault to a person. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}
