//! Reports of real runners, recorded in `fixtures/`: whole, truncated everywhere, forged and combined.

use types::{TestOutcome, TestReport};

use super::{compare, ran_nothing, read, variables};

macro_rules! fixture {
    ($name:literal) => {
        ($name, include_str!(concat!("../../fixtures/", $name)))
    };
}

type Row = ((&'static str, &'static str), &'static str, bool, (u32, u32, u32), usize);

/// Fixture, runner, complete, (passed, failed, skipped), names.
const ROWS: &[Row] = &[
    (fixture!("pytest-pass.txt"), "pytest", true, (3, 0, 2), 0),
    (fixture!("pytest-q.txt"), "pytest", true, (6, 2, 2), 2),
    (fixture!("pytest-qq.txt"), "pytest", false, (3, 0, 2), 0),
    (fixture!("pytest-rA.txt"), "pytest", true, (6, 2, 2), 9),
    (fixture!("pytest-v-color.txt"), "pytest", true, (6, 2, 2), 10),
    (fixture!("pytest-xdist.txt"), "pytest", true, (6, 2, 2), 10),
    (fixture!("pytest-none.txt"), "pytest", true, (0, 0, 0), 0),
    (fixture!("unittest-pass.txt"), "unittest", true, (3, 0, 2), 0),
    (fixture!("unittest-fail.txt"), "unittest", true, (4, 2, 2), 2),
    (fixture!("unittest-v.txt"), "unittest", true, (4, 2, 2), 8),
    (fixture!("unittest-none.txt"), "unittest", true, (0, 0, 0), 0),
    (fixture!("cargo-lib.txt"), "cargo test", true, (2, 0, 1), 3),
    (fixture!("cargo-fail.txt"), "cargo test", true, (3, 1, 1), 5),
    (fixture!("cargo-nff.txt"), "cargo test", true, (4, 1, 2), 7),
    (fixture!("cargo-doc.txt"), "cargo test", true, (1, 0, 1), 2),
    (fixture!("cargo-color.txt"), "cargo test", true, (0, 1, 0), 1),
    (fixture!("cargo-q.txt"), "cargo test", true, (4, 1, 2), 1),
    (fixture!("nextest.txt"), "cargo nextest", true, (3, 1, 1), 4),
    (fixture!("nextest-pass.txt"), "cargo nextest", true, (2, 0, 1), 2),
    (fixture!("nextest-none.txt"), "cargo nextest", true, (0, 0, 5), 0),
    (fixture!("go.txt"), "go test", true, (1, 2, 0), 3),
    (fixture!("go-v.txt"), "go test", true, (3, 2, 1), 6),
    (fixture!("go-json.txt"), "go test", true, (3, 2, 1), 6),
    (fixture!("go-pass.txt"), "go test", true, (1, 0, 0), 1),
    (fixture!("go-none.txt"), "go test", true, (0, 0, 0), 0),
    (fixture!("go-compile.txt"), "go test", true, (0, 1, 0), 1),
    (fixture!("go-exit.txt"), "go test", true, (1, 0, 0), 1),
    (fixture!("go-exit-v.txt"), "go test", false, (1, 1, 0), 2),
    (fixture!("node-tap.txt"), "node", true, (6, 1, 2), 9),
    (fixture!("node-file.txt"), "node", true, (4, 1, 2), 7),
    (fixture!("node-spec.txt"), "node", true, (6, 1, 2), 9),
    (fixture!("node-spec-color.txt"), "node", true, (6, 1, 2), 9),
    (fixture!("node-spec-pass.txt"), "node", true, (2, 0, 0), 2),
    (fixture!("node-exit.txt"), "node", true, (1, 0, 0), 1),
    (fixture!("node-none.txt"), "node", true, (0, 0, 0), 0),
    (fixture!("jest-pass.txt"), "jest", true, (1, 0, 0), 1),
    (fixture!("jest-fail.txt"), "jest", true, (3, 1, 2), 1),
    (fixture!("jest-verbose.txt"), "jest", true, (3, 1, 2), 6),
    (fixture!("vitest-pass.txt"), "vitest", true, (1, 0, 0), 0),
    (fixture!("vitest-fail.txt"), "vitest", true, (3, 1, 2), 1),
    (fixture!("vitest-verbose.txt"), "vitest", true, (3, 1, 2), 6),
    (fixture!("mocha-pass.txt"), "mocha", true, (2, 0, 0), 2),
    (fixture!("mocha-fail.txt"), "mocha", true, (3, 2, 1), 6),
    (fixture!("mocha-color.txt"), "mocha", true, (3, 2, 1), 6),
    (fixture!("mocha-tap.txt"), "tap", true, (3, 2, 1), 6),
    (fixture!("ava-tap.txt"), "tap", true, (1, 1, 1), 3),
];

const PYTEST_XML: &str = include_str!("../../fixtures/pytest.xml");
const PYTEST_Q: &str = include_str!("../../fixtures/pytest-q.txt");
const GO_V: &str = include_str!("../../fixtures/go-v.txt");
const CARGO: &str = include_str!("../../fixtures/cargo-nff.txt");

fn text(output: &str) -> TestReport {
    read(output, &[]).expect("a runner is recognised")
}

fn with_file(output: &str, path: &str, xml: &str) -> TestReport {
    read(output, &[(path.to_owned(), xml.to_owned())]).expect("a runner is recognised")
}

fn names(report: &TestReport, outcome: TestOutcome) -> Vec<&str> {
    let cases = report.cases.iter().filter(|case| case.outcome == outcome);
    cases.map(|case| case.name.as_str()).collect()
}

#[test]
fn every_runner_is_read() {
    for ((name, output), runner, complete, counts, named) in ROWS {
        let Some(report) = read(output, &[]) else { panic!("{name}: nothing") };
        let seen = (report.passed, report.failed, report.skipped);
        let all = (report.runner.as_str(), report.complete, seen, report.cases.len());
        assert_eq!(all, (*runner, *complete, *counts, *named), "{name}: {:#?}", report.cases);
    }
}

/// Every position in a short text; in a long one the ends of lines and some positions between.
fn cuts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let worth = |at: &usize| {
        text.len() < 400 || at.is_multiple_of(41) || bytes[at.saturating_sub(1)] == b'\n'
    };
    (0..text.len()).filter(|at| text.is_char_boundary(*at)).filter(worth).collect()
}

/// If each section of a runner has its own end, a text cut between sections looks complete.
fn between_sections(runner: &str, text: &str, end: usize) -> bool {
    let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let next = text[line..].lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let starts: &[&str] = match runner {
        "cargo test" => &["     Running", "   Doc-tests", "error: ", "running ", "test result: "],
        "go test" => &["ok  \t", "?   \t", "FAIL\t", "FAIL", "=== RUN ", "--- FAIL", "{"],
        _ => &[],
    };
    starts.iter().any(|start| next.starts_with(start))
}

#[test]
fn a_prefix_is_never_complete_unless_nothing_is_missing() {
    for ((name, output), runner, _, counts, _) in ROWS {
        let total = counts.0 + counts.1 + counts.2;
        for end in cuts(output) {
            let Some(report) = read(&output[..end], &[]) else { continue };
            let seen = report.passed + report.failed + report.skipped;
            let whole = (report.failed == counts.1 && (seen == total || report.passed == counts.0))
                || between_sections(runner, output, end);
            assert!(!report.complete || whole, "{name} cut at {end}: {report:?}");
        }
    }
}

#[test]
fn a_go_package_that_began_and_has_no_line_of_its_own_is_incomplete() {
    let cut = GO_V.find("ok  \texample.com/gp/c").expect("the last package");
    assert!(!text(&GO_V[..cut]).complete);
    let json = include_str!("../../fixtures/go-json.txt");
    assert!(!text(json.rsplit_once("{\"Time\"").expect("a last line").0).complete);
}

#[test]
fn a_prefix_of_a_report_file_is_never_complete() {
    for (path, xml) in [("pytest.xml", PYTEST_XML)] {
        assert!(with_file(PYTEST_Q, path, xml).complete);
        for end in cuts(xml) {
            let files = [(path.to_owned(), xml[..end].to_owned())];
            let report = read("", &files);
            assert!(!report.is_some_and(|report| report.complete), "cut at {end}");
        }
    }
}

#[test]
fn a_report_file_goes_before_the_text_and_needs_its_end() {
    let report = with_file(PYTEST_Q, "pytest.xml", PYTEST_XML);
    assert_eq!((report.passed, report.failed, report.skipped, report.cases.len()), (6, 2, 2, 10));
    assert_eq!(names(&report, TestOutcome::Failed), ["test_m::test_bad", "test_m::test_err"]);
    assert_eq!(
        names(&text(PYTEST_Q), TestOutcome::Failed),
        ["test_m::test_bad", "test_m::test_err"]
    );
    // A perfect file, and then the process exited.
    let quiet = with_file("", "pytest.xml", PYTEST_XML);
    assert!(!quiet.complete && quiet.quiet, "a runner that printed nothing is not cut off");
    assert!(!with_file("....F", "pytest.xml", PYTEST_XML).complete);
    let dots = text("..                                      [100%]\n");
    assert!(!dots.complete && dots.quiet, "pytest -qq prints nothing else");
    let begun = PYTEST_Q.find("=====").expect("details");
    assert!(with_file(&PYTEST_Q[..begun], "pytest.xml", PYTEST_XML).complete);
    // A file that contradicts the text.
    let other = PYTEST_Q.replace("5 passed", "50 passed");
    let contradicted = with_file(&other, "pytest.xml", PYTEST_XML);
    assert!(!contradicted.complete && !contradicted.quiet);
}

#[test]
fn two_sessions_of_pytest_are_both_counted_though_the_file_holds_the_last() {
    let first = include_str!("../../fixtures/pytest-pass.txt");
    let report = with_file(&format!("{first}{PYTEST_Q}"), "pytest.xml", PYTEST_XML);
    assert!(report.complete);
    assert_eq!((report.runner.as_str(), report.passed, report.failed), ("pytest", 9, 2));
}

#[test]
fn files_of_other_runners() {
    let node = include_str!("../../fixtures/node-junit.xml");
    let report = with_file("", "report.xml", node);
    assert_eq!((report.passed, report.failed, report.skipped), (6, 1, 2));
    assert!(names(&report, TestOutcome::Passed).contains(&"group > deep > x"));
    let vitest = include_str!("../../fixtures/vitest-junit.xml");
    let output = include_str!("../../fixtures/vitest-fail.txt");
    let report = with_file(output, "junit.xml", vitest);
    assert_eq!((report.runner.as_str(), report.complete, report.cases.len()), ("vitest", true, 6));
    assert_eq!(names(&report, TestOutcome::Failed), ["v/a.test.mjs::group > fails"]);
    let suite = r#"<!DOCTYPE x [<!ENTITY a "b">]><testsuite name="x.A"><testcase classname="x.A" name="a&amp;&a;&#33;"/></testsuite>"#;
    let gradle = |output| with_file(output, "build/test-results/test/TEST-x.A.xml", suite);
    assert_eq!(gradle("").cases[0].name, "x.A::a&&a;!");
    assert!(gradle("BUILD SUCCESSFUL in 3s\n").complete && !gradle("").complete);
    let maven = "[INFO]  T E S T S\n[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0\n";
    let path = "target/surefire-reports/TEST-x.A.xml";
    assert!(!with_file(maven, path, suite).complete);
    let report = with_file(&format!("{maven}[INFO] BUILD SUCCESS\n"), path, suite);
    assert!(report.complete && report.passed == 1 && report.runner == "maven");
}

#[test]
fn what_a_test_prints_is_not_believed_against_the_runner() {
    let forged = CARGO.replace("test good ... ok\n", "test fake ... ok\ntest good ... ok\n");
    let report = text(&forged);
    assert_eq!((report.passed, report.failed), (4, 1));
    assert!(names(&report, TestOutcome::Passed).iter().all(|name| !name.contains("fake")));
    // The test process exits early, with a forged result.
    let early = "     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)\n\nrunning 3 tests\n\
                 test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    assert!(!text(early).complete);
    let go =
        GO_V.replace("=== RUN   TestSkip\n", "--- PASS: TestFake (0.00s)\n=== RUN   TestSkip\n");
    assert!(names(&text(&go), TestOutcome::Passed).iter().all(|name| !name.contains("Fake")));
    let go = GO_V.replace("--- FAIL: TestBad (", "--- FAIL: TestBad (0.00s)\n--- PASS: TestBad (");
    assert!(names(&text(&go), TestOutcome::Failed).contains(&"example.com/gp/a.TestBad"));
}

#[test]
fn a_binary_without_a_result_makes_a_cargo_report_incomplete() {
    let header = "     Running tests/late.rs (target/debug/deps/late-0123456789abcdef)\n";
    assert!(!text(&format!("{CARGO}{header}")).complete);
    assert!(!text(header).complete);
    // The two streams one after the other.
    let is_header =
        |line: &&str| line.starts_with("     Running") || line.starts_with("   Doc-tests");
    let (headers, rest): (Vec<&str>, Vec<&str>) = CARGO.lines().partition(is_header);
    let apart = text(&format!("{}\n{}\n", rest.join("\n"), headers.join("\n")));
    assert_eq!(apart, text(CARGO));
    assert!(apart.cases.iter().any(|case| case.name == "it tests/it.rs bad"));
    assert!(apart.cases.iter().any(|case| case.name == "cg doc-tests src/lib.rs - two"));
}

#[test]
fn tap_needs_its_plan() {
    assert!(text("1..2\nok 1 - a\nok 2 - b\n").complete);
    assert!(!text("1..3\nok 1 - a\nok 2 - b\n").complete);
    assert!(!text("1..2\nok 1 - a\nBail out! no database\n").complete);
    assert!(!text("TAP version 13\nok 1 - a\n").complete);
    let two = text("1..1\nok 1 - a\n1..2\nok 1 - b\nnot ok 2 - c # TODO later\n");
    assert!(two.complete && (two.passed, two.skipped) == (2, 1));
}

#[test]
fn totals_of_other_runners() {
    let rows = [
        (
            "Finished in 0.1 seconds\n3 examples, 1 failure, 1 pending\n\nrspec ./a_spec.rb:3 # A fails\n",
            "rspec",
            (1, 1, 1),
            1,
        ),
        ("4 runs, 5 assertions, 1 failures, 1 errors, 1 skips\n", "minitest", (1, 2, 1), 0),
        ("PHPUnit 10.5.1 by S.\n\nOK (3 tests, 5 assertions)\n", "phpunit", (3, 0, 0), 0),
        (
            "PHPUnit 10.5.1\n\n1) ATest::testB\nTests: 4, Assertions: 4, Errors: 1, Failures: 1, Skipped: 1.\n",
            "phpunit",
            (1, 2, 1),
            1,
        ),
        (
            "  Failed A.B.C [3 ms]\nFailed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 5 ms\n",
            "dotnet test",
            (2, 1, 0),
            1,
        ),
        (
            "[ERROR]   ATest.bad:3 expected\n[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1\n[INFO] BUILD FAILURE\n",
            "maven",
            (1, 1, 1),
            1,
        ),
        ("Files=2, Tests=5,  0 wallclock secs\nResult: PASS\n", "prove", (5, 0, 0), 0),
        (
            "75% tests passed, 1 tests failed out of 4\n\nThe following tests FAILED:\n\t  2 - b (Failed)\n",
            "ctest",
            (3, 1, 0),
            1,
        ),
    ];
    for (output, runner, counts, named) in rows {
        let report = text(output);
        assert!(report.complete, "{runner}");
        let seen = (report.runner.as_str(), (report.passed, report.failed, report.skipped));
        assert_eq!((seen, report.cases.len()), ((runner, counts), named), "{output}");
    }
    assert!(!text("PHPUnit 10.5.1 by S.\n\n..").complete);
    assert!(read("compiled in 3s\n✔ all done\n  ok\n12 files changed\n", &[]).is_none());
    assert!(read("", &[]).is_none());
    assert!(read("ok 1 is enough\n1..10 are numbers\n", &[]).is_none());
    assert!(read("1..3\n", &[]).is_none());
}

#[test]
fn runners_are_combined() {
    let both = text(&format!("{PYTEST_Q}{CARGO}"));
    assert_eq!(both.runner, "cargo test, pytest");
    assert!(both.complete && (both.passed, both.failed, both.skipped) == (10, 3, 4));
    assert!(!text(&format!("{PYTEST_Q}{}", &CARGO[..CARGO.len() / 2])).complete);
}

#[test]
fn names_are_the_same_in_every_run() {
    let tap =
        text("1..3\nok 1 - /tmp/x1/b.test.js\nok 2 - at 0x7f00aa11bb\nok 3 - GET /api/users\n");
    assert_eq!(names(&tap, TestOutcome::Passed), ["b.test.js", "at 0x", "GET /api/users"]);
    let one = text("1..3\nok 1 - a\nnot ok 2 - a\nok 3 - b\n");
    let other = text("1..3\nnot ok 1 - a\nok 2 - a\nok 3 - b\n");
    assert_eq!(one.cases, other.cases);
    assert_eq!(names(&one, TestOutcome::Failed), ["a #2"]);
    for ((name, output), ..) in ROWS {
        let report = text(output);
        for case in &report.cases {
            assert!(
                !case.name.contains("/srv/") && !case.name.ends_with("ms)"),
                "{name}: {}",
                case.name
            );
        }
    }
}

#[test]
fn what_is_lost_and_won_is_named() {
    let before = text("1..4\nok 1 - a\nok 2 - b\nok 3 - c\nnot ok 4 - d\n");
    let now = text("1..3\nok 1 - a\nok 2 - b # SKIP\nok 3 - d\n");
    let compared = compare(&before, &now);
    assert_eq!(
        (compared.lost, compared.won),
        (vec!["b".to_owned(), "c".to_owned()], vec!["d".to_owned()])
    );
    assert_eq!((compared.fewer, compared.no_longer_named), (1, false));
    let counted = compare(&before, &text(include_str!("../../fixtures/unittest-pass.txt")));
    assert_eq!((counted.lost, counted.won, counted.fewer), (vec![], vec![], 0));
    assert!(counted.no_longer_named);
    let silenced = |now| compare(&before, &now).silenced;
    assert_eq!(silenced(text("1..1\nok 1 - a\n")), ["d"]);
    assert_eq!(silenced(text("1..1\nok 1 - d # SKIP\n")), ["d"]);
    assert!(silenced(text("1..1\nnot ok 1 - d\n")).is_empty());
    // It represented all its contents, which are reported now.
    assert!(silenced(text("1..1\nok 1 - d.works\n")).is_empty());
    assert_eq!(silenced(text("1..1\nok 1 - dworks\n")), ["d"]);
    let gone = compare(&before, &TestReport::default());
    assert_eq!((gone.lost.len(), gone.silenced.len(), gone.fewer), (3, 1, 4));
    assert!(ran_nothing(&text(include_str!("../../fixtures/pytest-none.txt"))));
    assert!(!ran_nothing(&before));
}

fn failed_case(name: &str) -> types::TestCase {
    types::TestCase { name: name.to_owned(), outcome: TestOutcome::Failed }
}

#[test]
fn a_report_that_names_failures_alone_tells_what_was_won_by_their_number() {
    let report = |failed: &[&str], passed| TestReport {
        complete: true,
        passed,
        failed: failed.len() as u32,
        cases: failed.iter().map(|name| failed_case(name)).collect(),
        ..TestReport::default()
    };
    let before = report(&["a", "b"], 1);
    assert_eq!(compare(&before, &report(&["a"], 2)).won, ["b"]);
    assert_eq!(compare(&before, &report(&[], 3)).won, ["a", "b"]);
    // A test that is gone was not made to pass, nor was one whose failure is not named.
    assert!(compare(&before, &report(&["a"], 1)).won.is_empty());
    assert!(compare(&before, &TestReport { failed: 2, ..report(&["a"], 2) }).won.is_empty());
}

#[test]
fn hostile_output_is_read_in_bounds() {
    let many: String = (0..60_000).map(|n| format!("ok {} - t{n}\n", n + 1)).collect();
    let report = text(&format!("1..60000\n{many}"));
    assert_eq!((report.complete, report.passed, report.cases.len()), (true, 60_000, 50_000));
    let deep: String = (0..500).map(|n| format!("{}# Subtest: x\n", " ".repeat(4 * n))).collect();
    read(&deep, &[("a.xml".to_owned(), "<testsuite>".repeat(3_000))]);
    for piece in [
        "\u{1b}[",
        "\u{1b}]",
        "<!--",
        "<testcase a='",
        "&#x",
        "=== RUN   ",
        "{\"Action\":",
        "  ---\n",
        "▶ a\n",
    ] {
        let flood = piece.repeat(200_000 / piece.len());
        read(&flood, &[("a.xml".to_owned(), format!("<testsuite>{flood}"))]);
    }
}

#[test]
fn pytest_is_told_where_its_report_goes_also_in_a_folder_with_blanks() {
    let pytest = |folder| variables(folder).remove(0);
    let plain = "--junitxml=/r/1/pytest.xml -o junit_family=xunit2";
    assert_eq!(pytest("/r/1/"), ("PYTEST_ADDOPTS".to_owned(), plain.to_owned()));
    assert!(pytest("/r s/it's").1.starts_with(r"--junitxml='/r s/it'\''s/pytest.xml' -o"));
}
