//! The checks of a run as JUnit XML: one suite per check and tree, with single tests if the runner named them. Excludes
//! trials and replaced attempts.

use std::fmt::Write as _;

use types::{Ended, Envelope, TestCase, TestOutcome};

use super::checks::{Checked, Reports, checked};

/// The output lines of a check that are included in a failure.
const LAST_LINES: usize = 20;

/// The JUnit XML of a run's checks, from its lines and their reports.
#[must_use]
pub fn junit(lines: &[Envelope], reports: &Reports) -> String {
    let suites: Vec<Suite> = checked(lines).iter().map(|one| suite(one, reports)).collect();
    let sum = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuites name=\"bosun\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
        sum(|suite| suite.tests),
        sum(|suite| suite.failures),
        sum(|suite| suite.errors),
        sum(|suite| suite.skipped),
    );
    suites.iter().for_each(|suite| text.push_str(&suite.text));
    text.push_str("</testsuites>\n");
    text
}

#[derive(Default)]
struct Suite {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    text: String,
}

fn suite(one: &Checked<'_>, reports: &Reports) -> Suite {
    let mut suite = Suite::default();
    let mut cases = String::new();
    let report = one.report(reports);
    for case in report.iter().flat_map(|report| &report.cases) {
        cases.push_str(&test(one, case, &mut suite));
    }
    // Without a list the check is one test; a failure that no test accounts for is one more.
    let unsaid = !one.end.passed() && suite.failures == 0;
    if report.is_none() || unsaid {
        cases.push_str(&whole(one, &mut suite));
    }
    let name = format!("{}: {}", one.place(), one.what.name);
    suite.text = format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\" timestamp=\"{}\">\n\
         \x20   <properties>\n\
         \x20     <property name=\"tree\" value=\"{}\"/>\n\
         \x20     <property name=\"commit\" value=\"{}\"/>\n\
         \x20     <property name=\"command\" value=\"{}\"/>\n\
         \x20   </properties>\n{cases}  </testsuite>\n",
        attribute(&name),
        suite.tests,
        suite.failures,
        suite.errors,
        suite.skipped,
        seconds(one),
        // The format has no time zone.
        one.at.to_string().trim_end_matches('Z'),
        one.tree(),
        attribute(&one.commit.0),
        attribute(&one.what.command),
    );
    suite
}

fn test(one: &Checked<'_>, case: &TestCase, suite: &mut Suite) -> String {
    suite.tests += 1;
    let (class, name) = case.name.rsplit_once("::").unwrap_or((&one.what.name, &case.name));
    let inner = match case.outcome {
        TestOutcome::Passed => String::new(),
        TestOutcome::Skipped => {
            suite.skipped += 1;
            "<skipped/>".to_owned()
        }
        TestOutcome::Failed => {
            suite.failures += 1;
            let known = one.end.tests.as_ref().is_some_and(|t| t.excused.contains(&case.name));
            let says = if known { "failed, as before the change" } else { "failed" };
            complaint("failure", says, one)
        }
    };
    element(class, name, None, &inner)
}

fn whole(one: &Checked<'_>, suite: &mut Suite) -> String {
    suite.tests += 1;
    let says = one.end.cannot_run.clone().unwrap_or_else(|| one.end.ended.to_string());
    let inner = match (&one.end.cannot_run, one.end.ended) {
        (None, Ended::Exited(0)) => String::new(),
        (None, Ended::Exited(_)) => {
            suite.failures += 1;
            complaint("failure", &says, one)
        }
        _ => {
            suite.errors += 1;
            complaint("error", &says, one)
        }
    };
    element(&one.place(), &one.what.name, Some(seconds(one)), &inner)
}

fn element(class: &str, name: &str, time: Option<String>, inner: &str) -> String {
    let time = time.map(|time| format!(" time=\"{time}\"")).unwrap_or_default();
    let (class, name) = (attribute(class), attribute(name));
    let head = format!("    <testcase classname=\"{class}\" name=\"{name}\"{time}");
    if inner.is_empty() { format!("{head}/>\n") } else { format!("{head}>{inner}</testcase>\n") }
}

fn complaint(tag: &str, says: &str, one: &Checked<'_>) -> String {
    let (says, tail) = (attribute(says), content(&one.tail(LAST_LINES)));
    format!("<{tag} message=\"{says}\">{tail}</{tag}>")
}

fn seconds(one: &Checked<'_>) -> String {
    let millis = one.end.elapsed_ms.0;
    format!("{}.{:03}", millis / 1_000, millis % 1_000)
}

/// Escapes text content. Characters that XML cannot hold become the replacement character.
fn content(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\r' => safe.push_str("&#13;"),
            '\t' | '\n' => safe.push(c),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            c if c < ' ' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// Escapes an attribute value; line breaks survive.
fn attribute(text: &str) -> String {
    content(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_replaced_and_the_rest_is_escaped() {
        assert_eq!(
            content("a\u{1b}[31m<b> & \u{0}\r\n\u{ffff}é"),
            "a\u{fffd}[31m&lt;b&gt; &amp; \u{fffd}&#13;\n\u{fffd}é"
        );
        assert_eq!(attribute("\"a\"\n\tb"), "&quot;a&quot;&#10;&#9;b");
    }
}
