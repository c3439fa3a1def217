//! A planted failing test, with a name derived from the file's own. Its position depends on how the runner finds tests;
//! in a script it is a line that fails, before any successful exit.

use super::edit::Edit;
use crate::cases::Case;
use crate::pattern::{Pattern, pattern};
use crate::source::{Language, Source, line_range};

/// The name of a planted test, or the planted line of a script, and the edit.
pub(super) fn planted(source: &Source<'_>, all: &[Case]) -> Option<(String, Edit)> {
    let plain = all.iter().rfind(|case| !case.is_special());
    match source.language {
        Language::Python => match plain {
            Some(case) => python(source, collected(source, all).unwrap_or(case)),
            None if all.is_empty() && pattern!(r"(?m)^assert\b").is_match(&source.bare) => script(
                source,
                "assert False",
                pattern!(r"(?m)^(?:sys\.exit|exit|raise SystemExit)\b|^if __name__"),
            ),
            None => None,
        },
        Language::Shell => match plain.filter(|case| case.word == "@test") {
            Some(case) => {
                let name = fresh(source, &case.name, " again");
                let text = format!("\n\n@test \"{name}\" {{\n  false\n}}\n");
                Some((name, at_end(source, &text)))
            }
            None if is_library(source) => None,
            None => script(source, "exit 1", pattern!(r"(?m)\b(?:exit|exec|return)\b")),
        },
        Language::JavaScript => javascript(source, plain?),
        Language::Rust => rust(source, plain?),
        Language::Go => go(source, plain?),
        Language::Ruby => ruby(source, plain?),
        Language::Java | Language::Kotlin | Language::CSharp | Language::Php => {
            method(source, plain?)
        }
        Language::C => None,
    }
}

/// Whether a shell file only defines functions and variables.
fn is_library(source: &Source<'_>) -> bool {
    let lines = source.logical_lines(0..source.text.len());
    let mut top = lines.iter().filter(|line| source.indent(line.start) == 0);
    let defines = pattern!(r"^(?:(?:function\s+)?[\w-]+\s*\(\)|\w+=|\}|export\b|readonly\b|#)");
    top.all(|line| defines.is_match(&source.bare[line.clone()]))
}

/// A name that the file does not have yet.
fn fresh(source: &Source<'_>, name: &str, suffix: &str) -> String {
    let mut made = format!("{name}{suffix}");
    while source.text.contains(&made) {
        made.push_str(suffix);
    }
    made
}

fn at_end(source: &Source<'_>, text: &str) -> Edit {
    let end = source.text.trim_end().len();
    Edit { at: end..source.text.len(), with: text.to_owned(), telling: true }
}

fn behind(at: usize, text: String) -> Edit {
    Edit { at: at..at, with: text, telling: true }
}

fn python(source: &Source<'_>, case: &Case) -> Option<(String, Edit)> {
    if pattern!(r"(?m)^pytestmark\b.*skip|^pytest\.skip\(|^\s*load_tests\b").is_match(source.text) {
        return None;
    }
    let name = fresh(source, &case.name, "_again");
    let depth = source.indent(case.start);
    let heads = source.heads(case.start);
    let in_class = heads.iter().any(|head| head.starts_with("class "));
    if !in_class {
        return Some((
            name.clone(),
            at_end(source, &format!("\n\n\ndef {name}():\n    assert False\n")),
        ));
    }
    let fails = if source.text.contains("self.assertEqual(") {
        "self.assertEqual(1, 2)"
    } else {
        "assert False"
    };
    let blanks = " ".repeat(depth);
    let text = format!("\n\n{blanks}def {name}(self):\n{blanks}    {fails}");
    let end = line_range(source.text, case.body.end).end;
    Some((name, behind(end, text)))
}

/// The last test in a class, if the file is for unittest, which collects no others.
fn collected<'a>(source: &Source<'_>, all: &'a [Case]) -> Option<&'a Case> {
    let in_class = |case: &&Case| source.indent(case.start) > 0 && !case.is_special();
    all.iter().filter(|_| source.bare.contains("TestCase")).rfind(in_class)
}

fn javascript(source: &Source<'_>, case: &Case) -> Option<(String, Edit)> {
    if source.bare.contains(".only(")
        || pattern!(r"(?m)^(?:module\.exports|export default)\b").is_match(&source.bare)
    {
        return None;
    }
    let plain: String = case.name.chars().filter(|c| !"'\"`\\$".contains(*c)).collect();
    let name = fresh(source, &plain, " again");
    let text =
        format!("\n\n{}('{name}', () => {{\n  throw new Error('unexpected');\n}});\n", case.word);
    Some((name, at_end(source, &text)))
}

fn rust(source: &Source<'_>, case: &Case) -> Option<(String, Edit)> {
    if pattern!(r"\b(?:proptest|quickcheck|rusty_fork_test|parameterized)!").is_match(&source.bare)
    {
        return None;
    }
    let name = fresh(source, &case.name, "_again");
    let blanks = " ".repeat(source.indent(case.body.end).min(16));
    let text = format!(
        "\n\n{blanks}#[test]\n{blanks}fn {name}() {{\n{blanks}    panic!(\"unexpected\");\n{blanks}}}"
    );
    Some((name, behind(case.body.end + 1, text)))
}

fn go(source: &Source<'_>, case: &Case) -> Option<(String, Edit)> {
    let name = fresh(source, &case.name, "Again");
    let text = format!("\n\nfunc {name}(t *testing.T) {{\n\tt.Fatal(\"unexpected\")\n}}\n");
    Some((name, at_end(source, &text)))
}

fn ruby(source: &Source<'_>, case: &Case) -> Option<(String, Edit)> {
    let blanks = " ".repeat(source.indent(case.start));
    let (name, head) = if case.word == "def" {
        let name = fresh(source, &case.name, "_again");
        (name.clone(), format!("def {name}"))
    } else {
        let name = fresh(source, &case.name, " again");
        (name.clone(), format!("{} \"{name}\" do", case.word))
    };
    let end = line_range(source.text, (case.body.end + 1).min(source.text.len())).end;
    let text = format!("\n\n{blanks}{head}\n{blanks}  raise \"unexpected\"\n{blanks}end");
    Some((name, behind(end, text)))
}

fn method(source: &Source<'_>, case: &Case) -> Option<(String, Edit)> {
    let spaced = case.name.contains(' ');
    let name = fresh(source, &case.name, if spaced { " again" } else { "Again" });
    let blanks = " ".repeat(source.indent(case.body.end).min(16));
    let mark = &case.word;
    let head = match source.language {
        Language::Php => {
            format!("public function {name}(): void {{ throw new \\Exception('unexpected'); }}")
        }
        Language::Kotlin if spaced => {
            format!("{mark}\n{blanks}fun `{name}`() {{ throw AssertionError(\"unexpected\") }}")
        }
        Language::Kotlin => {
            format!("{mark}\n{blanks}fun {name}() {{ throw AssertionError(\"unexpected\") }}")
        }
        Language::CSharp => format!(
            "{mark}\n{blanks}public void {name}() {{ throw new System.Exception(\"unexpected\"); }}"
        ),
        _ => format!(
            "{mark}\n{blanks}public void {name}() {{ throw new AssertionError(\"unexpected\"); }}"
        ),
    };
    Some((name, behind(case.body.end + 1, format!("\n\n{blanks}{head}"))))
}

/// A failing line for a script: at its end, or before a last statement that exits.
fn script(source: &Source<'_>, line: &str, ends: &Pattern) -> Option<(String, Edit)> {
    let lines = source.logical_lines(0..source.text.len());
    let top: Vec<_> = lines.iter().filter(|line| source.indent(line.start) == 0).collect();
    let closing = |text: &str| {
        matches!(text.trim(), "fi" | "}" | "done" | "esac" | "else") || text.starts_with("else")
    };
    let last = top.iter().rfind(|line| !closing(&source.bare[(**line).clone()]))?;
    let ending = &source.bare[last.start..];
    let by_itself = ends.is_match(ending);
    let defines = pattern!(r"^\s*(?:function\s+)?\w+\s*\(\)\s*\{").is_match(ending);
    let edit = if by_itself && !defines && !ending.contains("|| exit") && !ending.contains("|| {") {
        behind(last.start, format!("{line}\n"))
    } else {
        at_end(source, &format!("\n{line}\n"))
    };
    Some((line.to_owned(), edit))
}
