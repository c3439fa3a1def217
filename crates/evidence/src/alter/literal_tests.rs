//! Expected documents and tables of cases in data files.

use super::one_by_one;

#[test]
fn expected_values_in_data_are_altered() {
    for (path, text, wanted) in [
        (
            "tests/cases.json",
            "[{\"in\": 1, \"expected\": \"a\"},\n{\"in\": 2, \"expected\": \"b\"}]\n",
            "\"expected\": \"zb\"",
        ),
        ("testdata/sum.yaml", "- in: 1\n  want: 12\n- in: 2\n  want: 14\n", "want: 13"),
        ("slug_cases.toml", "[[case]]\nexpected = true\n", "expected = false"),
        ("approved/a.txt", "\nName  Sum\n", "zName  Sum"),
        ("a/__snapshots__/a.snap", "// Jest Snapshot v1\n\nexports[`a`] = `b`;\n", "\nzexports"),
    ] {
        let found = one_by_one(path, text);
        assert!(found.iter().any(|one| one.text.contains(wanted)), "{path}: {found:?}");
    }
    for (path, text) in [
        ("config/app.json", "{\"expected\": 1}"),
        ("tests/cases.json", "[{\"in\": 1, \"out\": null}]"),
        ("tests/data.csv", "a,b\n"),
    ] {
        assert_eq!(one_by_one(path, text), [], "{path}");
    }
}
