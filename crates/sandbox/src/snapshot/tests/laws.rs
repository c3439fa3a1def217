//! Invariants under any changes to the files: a snapshot with a cached index is the same as one with an empty index, a
//! restoration gives back exactly the previous files, and restoring the state from before undoes it.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// A change to a path.
#[derive(Debug, Clone)]
enum Step {
    Write(&'static str, u8),
    Link(&'static str, &'static str),
    Mode(&'static str, u32),
    Remove(&'static str),
    Move(&'static str, &'static str),
}

const PATHS: [&str; 8] = ["a", "b", "a/b", "a/b/c", "b/c", "c/d", "c/d/e", ".gitignore"];

/// Texts that ignore no path that is used here, and texts that do.
const PLAIN: [&str; 4] = ["0", "1", "2", "3"];
const RULES: [&str; 4] = ["a\n", "/b/\n!c\n", "c\nd\n", ""];

fn step() -> impl Strategy<Value = Step> {
    let path = || select(&PATHS[..]);
    prop_oneof![
        4 => (path(), 0..4u8).prop_map(|(path, text)| Step::Write(path, text)),
        1 => (path(), select(&["a", "/etc", ".."][..])).prop_map(|(path, to)| Step::Link(path, to)),
        1 => (path(), select(&[0o600, 0o755][..])).prop_map(|(path, mode)| Step::Mode(path, mode)),
        2 => path().prop_map(Step::Remove),
        1 => (path(), path()).prop_map(|(from, to)| Step::Move(from, to)),
    ]
}

impl Step {
    /// Applies the step as far as possible; an obstacle stays.
    fn do_it(&self, fixture: &Fixture, texts: [&str; 4]) {
        let clear = |path: &str| {
            let path = fixture.at(path);
            let folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
            if folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.ok();
        };
        let above = |path: &str| {
            let path = fixture.at(path);
            std::fs::create_dir_all(path.parent().expect("a folder above")).is_ok()
        };
        match self {
            // Links lead out of the workspace here; nothing is written through them.
            Self::Write(path, _) | Self::Link(path, _) if through_a_link(fixture, path) => {}
            Self::Write(path, text) => {
                clear(path);
                if above(path) {
                    std::fs::write(fixture.at(path), texts[usize::from(*text)]).ok();
                }
            }
            Self::Link(path, to) => {
                clear(path);
                if above(path) {
                    std::os::unix::fs::symlink(to, fixture.at(path)).ok();
                }
            }
            Self::Mode(path, mode) => {
                let file = fixture.at(path);
                if file.symlink_metadata().is_ok_and(|found| found.is_file()) {
                    fixture.mode(path, *mode);
                }
            }
            Self::Remove(path) | Self::Move(path, _) if through_a_link(fixture, path) => {}
            Self::Remove(path) => clear(path),
            Self::Move(from, to) => {
                if !through_a_link(fixture, to) && above(to) {
                    std::fs::rename(fixture.at(from), fixture.at(to)).ok();
                }
            }
        }
    }
}

/// Whether a folder above the path is a link.
fn through_a_link(fixture: &Fixture, path: &str) -> bool {
    let above = Path::new(path).ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    above.into_iter().any(|above| fixture.at(above).is_symlink())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_comes_back_whatever_was_done(steps in prop::collection::vec(step(), 1..24), back in any::<prop::sample::Index>()) {
        let fixture = Fixture::new();
        let mut taken = vec![(fixture.take(), fixture.picture())];
        for step in &steps {
            step.do_it(&fixture, PLAIN);
            let tree = fixture.take();
            prop_assert_eq!(open(fixture.place.path()).take().expect("a snapshot").digest, tree);
            taken.push((tree, fixture.picture()));
        }
        let (tree, picture) = &taken[back.index(taken.len())];
        let restored = fixture.restore(tree);
        prop_assert_eq!(&fixture.picture(), picture);
        prop_assert_eq!(restored.left_alone, vec![]);
        prop_assert_eq!(fixture.take(), *tree);
        let (last, picture) = &taken[taken.len() - 1];
        prop_assert_eq!(restored.trees.before, *last);
        fixture.restore(last);
        prop_assert_eq!(&fixture.picture(), picture);
    }

    #[test]
    fn rules_that_come_and_go_are_noticed_as_if_nothing_was_known(
        steps in prop::collection::vec(step(), 1..24),
    ) {
        let fixture = Fixture::new();
        for step in &steps {
            step.do_it(&fixture, RULES);
            let fresh = open(fixture.place.path()).take().expect("a snapshot");
            prop_assert_eq!(fresh.digest, fixture.take());
        }
    }
}
