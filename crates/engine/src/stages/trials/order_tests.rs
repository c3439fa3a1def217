//! What a person orders of a result is not asked about again.

use types::Effect;

use super::tests::red;

/// Otherwise the same change would be asked about that the person has just ordered.
#[test]
fn a_test_that_a_person_orders_to_change_is_not_asked_about_again() {
    for (words, named) in [
        ("change src/tests/test_a.py as the goal demands", true),
        ("change `src/tests/test_a.py`.", true),
        ("do as the goal demands", false),
        ("not tests/test_a.py", false),
        ("do not change src/tests/test_a.py", false),
        ("fix the code, and don't touch src/tests/test_a.py", false),
        ("src/tests/test_a.py stays as it is", false),
    ] {
        let mut bench = red();
        bench.tell("T1.1 hands in src/a.py src/tests/test_a.py");
        bench.tell("check T1.1/0 exits 0 passed=3 mended=2");
        bench.tell("check old:T1.1/0 exits 1 passed=1 failing=a,b");
        bench.tell(&format!("answer 0 retry {words}\ntimer T1 fires"));
        bench.tell("T1.2 hands in src/a.py src/tests/test_a.py");
        bench.tell("check T1.2/0 exits 0 passed=3 mended=2");
        let against = bench.asked().into_iter().find_map(|effect| match effect {
            Effect::RunCheck { against, .. } => Some(against),
            _ => None,
        });
        let found = against.expect("a trial").named;
        assert_eq!(!found.is_empty(), named, "{words}: {found:?}");
    }
}
