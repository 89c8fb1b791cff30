// Prints `N passed, N failed` from vitest's JSON report; exits 1 when anything failed or nothing ran.
import { existsSync, readFileSync } from 'node:fs';

const path = process.argv[2];
const report = path && existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { testResults: [], success: false };
const tests = report.testResults.flatMap((file) => file.assertionResults);
const passed = tests.filter((test) => test.status === 'passed').length;
// A file that could not be loaded has no failed test of its own, but it failed.
const brokenFiles = report.testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
).length;
const failed = tests.filter((test) => test.status === 'failed').length + brokenFiles;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 && report.success ? 0 : 1;
