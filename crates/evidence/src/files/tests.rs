//! Purposes of files by path, the two swaps, manifests and unit tests.

use types::VerifyPolicy;

use super::*;

fn tests() -> Vec<String> {
    VerifyPolicy::default().tests
}

#[test]
fn files_are_known_by_their_paths() {
    for (paths, wanted) in [
        (
            "src/pluggy/_hooks.py src/lib.rs app/main.py bin/rot13 web/index.html lib/letters.sh cmd/x/main.go a.sql src/latest.js",
            FileKind::Code,
        ),
        (
            "tests/run.sh tests/lib/expect.sh pkg/test_user.py a/user_test.go ui/a.spec.tsx src/parse/tests.rs \
             src/test/java/UserTest.java spec/user_spec.rb tests/golden.txt",
            FileKind::Test,
        ),
        (
            "conftest.py tests/conftest.py pytest.ini web/package.json .npmrc jest.config.ts .mocharc.yml \
             tsconfig.build.json GNUmakefile rules.mk Cargo.toml .cargo/config.toml rust-toolchain .config/nextest.toml \
             build.gradle.kts CMakeLists.txt pytest.py unittest/__init__.py _pytest/__init__.py node_modules/.bin/node \
             .github/workflows/ci.yml .gitignore Dockerfile a.pth .env sitecustomize.py phpunit.xml .rspec x.csproj",
            FileKind::Recipe,
        ),
        (
            "cases.json approved/report.txt testdata/x.txt a/__snapshots__/b.snap config.yaml data.csv Cargo.lock \
             expected.txt tests/cases.json",
            FileKind::Data,
        ),
        (
            "docs/conf.py box/py.typed box/a.pyi types/index.d.ts README.md LICENSE docs/guide.txt README.txt CHANGELOG LICENSE-MIT docs/a.rst",
            FileKind::Document,
        ),
    ] {
        for path in paths.split_whitespace() {
            assert_eq!(kind(path, &tests()), wanted, "{path}");
        }
    }
}

fn path(text: &str) -> WorkPath {
    text.parse().unwrap()
}

fn changes(all: &[(&str, ChangeKind)]) -> Changes {
    let change = |(text, how): &(&str, ChangeKind)| FileChange {
        path: path(text),
        added: 1,
        removed: 1,
        how: *how,
        only_comments: false,
    };
    Changes(all.iter().map(change).collect())
}

#[test]
fn a_package_that_was_there_before_shadows_nothing() {
    use ChangeKind::{Added, Modified};
    let all = changes(&[
        ("src/iniconfig/__init__.py", Modified),
        ("pluggy/__init__.py", Added),
        ("tests/pytest.py", Modified),
    ]);
    let kinds = all.0.iter().map(|change| kind_of(change, &tests()));
    let kinds: Vec<FileKind> = kinds.collect();
    assert_eq!(kinds, [FileKind::Code, FileKind::Recipe, FileKind::Test]);
    assert_eq!(base_tests(&all, &tests()).remove, [path("pluggy/__init__.py")]);
}

#[test]
fn the_base_s_tests_are_put_back_and_new_code_keeps_what_it_needs() {
    use ChangeKind::{Added, Deleted, Modified};
    let changes = changes(&[
        ("src/a.py", Modified),
        ("tests/test_a.py", Modified),
        ("tests/test_b.py", Deleted),
        ("tests/test_c.py", Added),
        ("conftest.py", Added),
        ("approved/x.txt", Modified),
        ("cases.json", Added),
        ("pyproject.toml", Added),
        ("Cargo.lock", Modified),
        ("build.rs", Added),
        ("README.md", Modified),
    ]);
    let mix = base_tests(&changes, &tests());
    assert_eq!(mix.restore, ["tests/test_a.py", "tests/test_b.py", "approved/x.txt"].map(path));
    assert_eq!(mix.remove, ["tests/test_c.py", "conftest.py"].map(path));
    assert_eq!(mix.merge, ["pyproject.toml"].map(path));
    let mix = new_tests(&changes, &tests());
    assert_eq!(mix.remove, ["tests/test_b.py"].map(path));
    assert!(mix.restore.contains(&path("conftest.py")) && mix.merge.is_empty());
}

#[test]
fn a_package_keeps_its_dependencies_and_gets_its_scripts_back() {
    let base = r#"{"name":"x","scripts":{"test":"node --test"},"devDependencies":{"chai":"5"}}"#;
    let new = r#"{"name":"x","scripts":{"pretest":"rm -r test","test":"true"},"jest":{"bail":1},"dependencies":{"ms":"2"}}"#;
    let text = restored_manifest("web/package.json", base, new).unwrap();
    assert!(
        text.contains("\"node --test\"") && text.contains("\"ms\"") && text.contains("chai"),
        "{text}"
    );
    assert!(!text.contains("pretest") && !text.contains("jest"), "{text}");
    assert!(!restored_manifest("package.json", "", new).unwrap().contains("scripts"));
    assert_eq!(restored_manifest("package.json", base, "{"), None);
    assert_eq!(restored_manifest("Makefile", "", ""), None);
}

#[test]
fn a_crate_keeps_its_dependencies_and_gets_its_tests_back() {
    let base = "[package]\nname = \"x\"\n[dev-dependencies]\na = \"1\"\n[[bin]]\nname = \"p\"\n";
    let new = "[package]\nname = \"x\"\nbuild = \"build.rs\"\nautotests = false\n[lib]\ntest = false\n\
               [[test]]\nname = \"t\"\nharness = false\n[dependencies]\nserde = \"1\"\n[[bin]]\nname = \"p\"\ntest = false\n";
    let text = restored_manifest("Cargo.toml", base, new).unwrap();
    for kept in ["serde", "build.rs", "a = \"1\"", "name = \"p\""] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    for gone in ["autotests", "harness", "test = false"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
}

#[test]
fn python_settings_of_tests_are_put_back() {
    let base = "[project]\nname = \"x\"\n[tool.pytest.ini_options]\npythonpath = \"src\"\n";
    let new = "[project]\nname = \"x\"\ndependencies = [\"rich\"]\n[tool.pytest.ini_options]\naddopts = \"-k one\"\n";
    let text = restored_manifest("pyproject.toml", base, new).unwrap();
    assert!(
        text.contains("rich") && text.contains("pythonpath") && !text.contains("addopts"),
        "{text}"
    );
    let text = restored_manifest(
        "setup.cfg",
        "[tool:pytest]\na = 1\n",
        "[options]\nb = 2\n[tool:pytest]\na = 3\n",
    )
    .unwrap();
    assert_eq!(text, "[options]\nb = 2\n[tool:pytest]\na = 1\n");
}

#[test]
fn unit_tests_are_exchanged_and_code_stays() {
    let old = "pub fn a() -> &'static str { \"}\" }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { let _ = '}'; /* } */ }\n}\n";
    let new = "pub fn a() -> i32 { 2 }\n#[cfg(test)]\n#[allow(dead_code)]\nmod tests {\n    // gone\n}\n#[cfg(test)]\nmod more { fn x() {} }\n";
    let mixed = swapped_unit_tests(new, old).unwrap();
    assert!(mixed.contains("i32 { 2 }") && mixed.contains("fn t()"), "{mixed}");
    assert!(!mixed.contains("gone") && !mixed.contains("more"), "{mixed}");
    let mixed = swapped_unit_tests(old, new).unwrap();
    assert!(mixed.contains("mod more { fn x() {} }\n") && mixed.contains("gone"), "{mixed}");
    assert_eq!(swapped_unit_tests("fn a() {}", "fn b() {}"), None);
    assert!(
        !without_unit_tests(old).contains("fn t") && without_unit_tests(old).contains("pub fn a")
    );
}

#[test]
fn a_star_is_anything() {
    for (pattern, name) in
        [("*.test.*", "a.test.ts"), ("test_*.py", "test_.py"), ("*", ""), ("a*b*c", "aXbYc")]
    {
        assert!(super::fits(pattern, name), "{pattern} {name}");
    }
    for (pattern, name) in
        [("*.test.*", "test.ts"), ("*_test.go", "test.go"), ("a*a", "a"), ("x", "xy")]
    {
        assert!(!super::fits(pattern, name), "{pattern} {name}");
    }
}
