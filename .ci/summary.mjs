// Prints the tests that failed, and last `N passed, N failed`, from vitest's JSON reports; exits 1 when a test failed
// or a report has no tests.
import { existsSync, readFileSync } from 'node:fs';

const NOTHING = { testResults: [], success: false };
const reports = process.argv
  .slice(2)
  .map((path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : NOTHING));
const files = reports.flatMap((report) => report.testResults);
const count = (tests, status) => tests.filter((test) => test.status === status).length;
const passedIn = (report) => report.testResults.reduce((sum, file) => sum + count(file.assertionResults, 'passed'), 0);

const passed = reports.reduce((sum, report) => sum + passedIn(report), 0);
// A file that could not be loaded, or whose set-up failed, counts as one failed test.
const failed = files.reduce(
  (sum, file) => sum + (count(file.assertionResults, 'failed') || (file.status === 'failed' ? 1 : 0)),
  0,
);
for (const file of files) {
  const tests = file.assertionResults.filter((test) => test.status === 'failed');
  if (file.status === 'failed' && tests.length === 0) console.log(`FAILED ${file.name}\n${file.message}`);
  for (const test of tests) {
    // The first lines of an error say what was expected; the whole of it is above, in the report of its run.
    const errors = test.failureMessages.map((message) => message.split('\n').slice(0, 12).join('\n'));
    console.log(`FAILED ${file.name} > ${test.fullName}\n${errors.join('\n')}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
const good = reports.length > 0 && reports.every((report) => report.success && passedIn(report) > 0);
process.exitCode = good && failed === 0 ? 0 : 1;
