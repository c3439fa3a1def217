//! Strings, comments and statements in each language.

use super::*;

fn bare(language: Language, text: &str) -> String {
    Source::new(language, text).bare
}

#[test]
fn strings_and_comments_are_blanked_in_every_language() {
    for (language, text, wanted) in [
        (Language::Python, "a = 'x#y' # note", "a = '   '       "),
        (Language::Python, "b = \"\"\"a\n'b\"\"\"", "b = \"\"\" \n  \"\"\""),
        (
            Language::JavaScript,
            "x(/a[/]b'/, '//', `a${b}c`) // n",
            "x(/      /, '  ', `      `)     ",
        ),
        (
            Language::Rust,
            "f::<'a>('\\'', r#\"a\"b\"#) /* /* */ */",
            "f::<'a>('  ', r#\"   \"#)            ",
        ),
        (Language::Go, "x := `a\"` + \"//\" // y", "x := `  ` + \"  \"     "),
        (Language::Shell, "e \"$(p 'a\"' | \"b\")\" # c", "e \"               \"    "),
        (Language::Php, "$a = \"#\"; # x", "$a = \" \";    "),
    ] {
        assert_eq!(bare(language, text), wanted, "{language:?}");
    }
}

#[test]
fn a_text_of_any_kind_is_read_without_harm() {
    let odd =
        ["", "'", "\"", "r#\"", "/*", "`${", "<<X", "$(", "é'ü", "b'", "'\\", "\"\\", "#!", "///"];
    for language in [
        Language::Python,
        Language::JavaScript,
        Language::Rust,
        Language::Go,
        Language::Shell,
        Language::Java,
        Language::Ruby,
        Language::Php,
        Language::CSharp,
        Language::Kotlin,
    ] {
        for text in odd {
            let source = Source::new(language, text);
            assert_eq!(source.bare.len(), text.len());
            source.statements(0..text.len());
            source.heads(text.len());
        }
    }
}

#[test]
fn statements_are_those_of_the_block_itself() {
    let text = "a(1,\n  2);\nif (x) {\n  b();\n}\nc()\n  .d()\ne()";
    let source = Source::new(Language::JavaScript, text);
    let found: Vec<&str> = source.statements(0..text.len()).into_iter().map(|r| &text[r]).collect();
    assert_eq!(found, ["a(1,\n  2);", "if (x) {\n  b();\n}", "c()\n  .d()", "e()"]);
    let text = "    a = f(\n        1)\n    if a:\n        b()\n    c()\n";
    let source = Source::new(Language::Python, text);
    let found: Vec<&str> = source.statements(0..text.len()).into_iter().map(|r| &text[r]).collect();
    assert_eq!(found, ["a = f(\n        1)", "if a:", "c()"]);
}
