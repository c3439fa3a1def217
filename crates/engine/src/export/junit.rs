//! The checks of a run as JUnit XML: one suite for each check and tree, with its tests one by one where the runner named
//! them. Trials and replaced attempts are not in it.

use std::fmt::Write as _;

use types::{Ended, Envelope, TestCase, TestOutcome};

use super::checks::{Checked, Reports, checked};

/// How many of the last lines that a check printed stand with a failure.
const LAST_LINES: usize = 20;

/// The JUnit XML of a run's checks, from its lines and the reports that they name.
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
    // Without a list the check is one test; it is one more if it failed and none of its tests did.
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
        // The format knows no zone.
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
            let says = if known { "failed, as it did before" } else { "failed" };
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

/// A text between tags. Characters that XML cannot hold are shown as the one that stands for them.
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

/// A text between quotes, in which line breaks survive.
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
