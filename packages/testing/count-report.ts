/** The passed and failed tests of one run, with one line for each failure. */
export interface Count {
  passed: number;
  failed: number;
  problems: string[];
}

/** The part of vitest's JSON report that this module counts. */
interface Report {
  numPassedTests: number;
  testResults: {
    name: string;
    status: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
}

/**
 * Counts the tests of a vitest JSON report. Each of these counts as a failure:
 * - a test that did not run, or a file that does not load
 * - a report that is missing or contains no tests
 * - an exit code that the report does not explain: its problem contains the end of the run's output (`tail`)
 */
export function countReport(
  run: string,
  {
    report: text,
    exitCode,
    tail,
  }: { report: string | undefined; exitCode: number | null; tail: string },
): Count {
  const report = parse(text);
  if (!report) return { passed: 0, failed: 1, problems: [`${run}: no report\n${tail}`] };
  const problems = report.testResults.flatMap(({ name, status, assertionResults }) => {
    const notPassed = assertionResults.filter((test) => test.status !== "passed");
    if (notPassed.length === 0) return status === "passed" ? [] : [`Failed: ${name}`];
    return notPassed.map(
      (test) => `${test.status === "failed" ? "Failed" : "Not run"}: ${name}: ${test.fullName}`,
    );
  });
  if (report.numPassedTests === 0) problems.push(`${run}: no test passed`);
  if (exitCode !== 0 && problems.length === 0) {
    problems.push(`${run}: exit code ${exitCode}, and no test failed:\n${tail}`);
  }
  return { passed: report.numPassedTests, failed: problems.length, problems };
}

function parse(text: string | undefined): Report | undefined {
  try {
    const report = JSON.parse(text ?? "");
    return Array.isArray(report.testResults) ? report : undefined;
  } catch {
    return undefined;
  }
}
