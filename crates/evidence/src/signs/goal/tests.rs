//! Names in goals.

use super::*;

#[test]
fn names_that_are_to_be_added_are_read_from_a_goal() {
    for (goal, wanted) in [
        (
            "Add two functions to stock.py: low_stock(items, limit) for names, and restock(items, name) that returns a dict",
            vec!["low_stock", "restock"],
        ),
        ("Implement `parse_size` in sizes.py", vec!["parse_size"]),
        ("Add a flag --dry-run to the command", vec!["--dry-run"]),
        ("Create a class `Parcel` in post.py", vec!["Parcel"]),
        ("Write a function isLeap for years. Remove old_leap() from the module", vec!["isLeap"]),
        ("Make slugify in slug.py collapse runs of blanks", vec![]),
        ("Remove the function nothing_left from inventory.py", vec![]),
        ("Rename total() to sum_of()", vec![]),
        ("Add caching, like lru_cache does, to the loader", vec![]),
        ("Add tests for the function(s) in utils", vec![]),
        ("Fix the crash in load_file() when a name is empty", vec![]),
        ("Add a section about set_up to README.md", vec![]),
        ("Add src/low_stock.py with the report", vec![]),
    ] {
        assert_eq!(named_things(goal), wanted, "{goal}");
    }
}

#[test]
fn what_a_result_does_not_have_is_left_out() {
    let goal = "Add low_stock(items) and restock(items, name) to stock.py, and a flag --dry-run";
    assert_eq!(left_out(goal, &["def low_stock(items):", "dry_run = True"]), ["restock"]);
    assert_eq!(left_out(goal, &["lowStock restock dryRun"]), [""; 0]);
    assert_eq!(left_out("Delete low_stock(items)", &[]), [""; 0]);
}
