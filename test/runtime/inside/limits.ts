/** Runs within a sandbox: prints the hard limits that it has. */
const report: unknown = process.report.getReport();
const limits = typeof report === 'object' && report !== null && 'userLimits' in report ? report.userLimits : {};
process.stdout.write(JSON.stringify(limits));
