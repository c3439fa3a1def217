//! Line markers by language: assertions, skipped tests, checks that cannot fail. Tables only; a line that is only a
//! comment matches nothing.

/// A language: its file extensions, and its markers for assertions and skipped tests.
struct Marks {
    ends: &'static [&'static str],
    asserts: &'static [&'static str],
    skips: &'static [&'static str],
    comment: &'static str,
}

const LANGUAGES: &[Marks] = &[
    Marks {
        ends: &["rs"],
        asserts: &["assert!(", "assert_eq!(", "assert_ne!(", "assert_matches!(", "#[should_panic"],
        skips: &["#[ignore"],
        comment: "//",
    },
    Marks {
        ends: &["py"],
        asserts: &["assert ", "assert(", "self.assert", "pytest.raises(", "self.fail("],
        skips: &[
            "@pytest.mark.skip",
            "@pytest.mark.xfail",
            "pytest.skip(",
            "pytestmark = pytest.mark.skip",
            "@unittest.skip",
            "@skip",
            "self.skipTest(",
            "raise unittest.SkipTest",
            "collect_ignore",
        ],
        comment: "#",
    },
    Marks {
        ends: &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "vue", "svelte"],
        asserts: &["expect(", "assert(", "assert.", "t.assert", "t.is(", "t.deepEqual("],
        skips: &[
            "it.skip(",
            "test.skip(",
            "describe.skip(",
            "suite.skip(",
            "xit(",
            "xtest(",
            "xdescribe(",
            "it.todo(",
            "test.todo(",
            "it.only(",
            "test.only(",
            "describe.only(",
            "fit(",
            "fdescribe(",
            "this.skip(",
            "t.skip(",
        ],
        comment: "//",
    },
    Marks {
        ends: &["go"],
        asserts: &["t.Error", "t.Fatal", "t.Fail", "assert.", "require."],
        skips: &["t.Skip", "b.Skip", "f.Skip"],
        comment: "//",
    },
    Marks {
        ends: &["java", "kt", "kts", "scala", "groovy"],
        asserts: &["assert", "Assert.", "fail(", "verify("],
        skips: &["@Disabled", "@Ignore", "Assumptions.assume", "assumeTrue("],
        comment: "//",
    },
    Marks {
        ends: &["cs"],
        asserts: &["Assert."],
        skips: &["[Ignore", "Skip =", "Assert.Ignore("],
        comment: "//",
    },
    Marks {
        ends: &["rb"],
        asserts: &["assert", "expect(", "refute"],
        skips: &["xit ", "xdescribe ", "skip ", "pending "],
        comment: "#",
    },
    Marks {
        ends: &["php"],
        asserts: &["$this->assert", "self::assert"],
        skips: &["markTestSkipped", "markTestIncomplete"],
        comment: "//",
    },
    Marks {
        ends: &["exs"],
        asserts: &["assert ", "refute "],
        skips: &["@tag :skip"],
        comment: "#",
    },
    Marks {
        ends: &["sh", "bash", "bats"],
        asserts: &["grep ", "test ", "[ ", "[[ ", "cmp ", "diff ", "exit 1"],
        skips: &["skip "],
        comment: "#",
    },
];

/// Assertions that always hold.
const HOLLOW: &[&str] = &[
    "assert!(true",
    "assert True",
    "assert(true",
    "assert(True",
    "assert 1 == 1",
    "assert.ok(true",
    "assertTrue(true",
    "assertTrue(True",
    "expect(true)",
    "assert_eq!(1, 1",
    "assert_eq!(true, true",
    "Assert.True(true",
];

/// Files that define the commands of checks.
const RECIPES: &[&str] = &[
    "package.json",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
    "deno.json",
    "tox.ini",
    "noxfile.py",
];

/// Endings that make a command succeed always.
const TOOTHLESS: &[&str] = &["|| true", "||true", "|| :", "|| exit 0", "; true", "; exit 0"];

fn language(path: &str) -> Option<&'static Marks> {
    let (_, end) = path.rsplit_once('.')?;
    LANGUAGES.iter().find(|language| language.ends.contains(&end))
}

/// Whether the language of a file is known.
pub(super) fn is_code(path: &str) -> bool {
    language(path).is_some()
}

/// Whether this language keeps tests beside the code, in files of any name.
pub(super) fn may_hold_tests(path: &str) -> bool {
    path.ends_with(".rs")
}

pub(super) fn is_recipe(path: &str) -> bool {
    RECIPES.contains(&path.rsplit('/').next().unwrap_or(path))
}

/// Whether a line asserts something.
pub(super) fn asserts(path: &str, line: &str) -> bool {
    has(path, line, |language| language.asserts)
        && !HOLLOW.iter().any(|hollow| line.contains(hollow))
}

/// Whether a line skips a test, or all others.
pub(super) fn skips(path: &str, line: &str) -> bool {
    has(path, line, |language| language.skips)
}

/// Whether a line of a recipe makes a check succeed always.
pub(super) fn cannot_fail(line: &str) -> bool {
    let line = line.trim();
    let script = line
        .strip_prefix("\"test\":")
        .map(|value| value.trim().trim_end_matches(',').trim_matches('"').trim().to_owned());
    let hollow = script.is_some_and(|script| {
        matches!(script.as_str(), "" | "true" | ":" | "exit 0")
            || (script.starts_with("echo ") && !script.contains("&&"))
    });
    let bare = line.trim_end_matches([',', '"', '\'']).trim_end();
    hollow || TOOTHLESS.iter().any(|end| bare.ends_with(end))
}

/// Whether a line of code contains a marker of its language, other than as the end of a longer name.
fn has(path: &str, line: &str, marks: fn(&Marks) -> &'static [&'static str]) -> bool {
    let Some(language) = language(path) else { return false };
    let line = line.trim();
    let comment = line.starts_with(language.comment) && !line.starts_with("#[");
    !comment
        && marks(language).iter().any(|mark| {
            line.match_indices(mark).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let begins_name = mark.starts_with(|c: char| c.is_alphanumeric());
                !begins_name || !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            })
        })
}
