/** Runs within a sandbox: prints its hard limits. */
const report: unknown = process.report.getReport();
const limits = typeof report === 'object' && report !== null && 'userLimits' in report ? report.userLimits : {};
process.stdout.write(JSON.stringify(limits));
