//! Commands that ask on a terminal: comments in a review, and confirmation of the newest run.

use crate::binary::{Place, stdout};
use crate::naming::done;
use crate::screen::{self, Screen};

#[test]
fn comments_are_typed_while_a_result_is_gone_through() {
    if !screen::can_be_had() {
        return;
    }
    let place = Place::new();
    let (repo, run) = done(&place);
    let screen = Screen::open(&place, &repo, 100, 40);
    screen.run("review");
    screen.waits_for("1 +hello");
    screen.waits_for("comment as PATH:LINE TEXT");
    screen.types("other.txt:1 no such file");
    screen.press("Enter");
    screen.waits_for("it changed greeting.txt");
    screen.types("greeting.txt:1 greet the world");
    screen.press("Enter");
    screen.waits_for("1 comment on");
    screen.types("and say why");
    screen.press("Enter");
    screen.waits_for("2 comments on");
    screen.press("Enter");
    screen.waits_for(&format!("review {run} --send"));
    let kept = stdout(&place.run(&["review", &run, "--comments"]));
    assert!(kept.contains("T1:greeting.txt:1  greet the world"), "{kept}");
    assert!(kept.contains("T1  and say why"), "{kept}");
}

#[test]
fn the_newest_run_is_thrown_away_only_after_a_yes() {
    if !screen::can_be_had() {
        return;
    }
    let place = Place::new();
    let (repo, run) = done(&place);
    let screen = Screen::open(&place, &repo, 100, 30);
    let settled = || stdout(&place.run(&["list", "-q", "--state", "discarded"]));
    screen.run("discard --yes");
    screen.waits_for(&format!("discard {run}"));
    screen.types("no");
    screen.press("Enter");
    screen.waits_for("nothing was done");
    assert_eq!(settled(), "");
    screen.run("discard");
    screen.waits_until("the question again", |text| text.matches("Type yes").count() == 2);
    screen.types("yes");
    screen.press("Enter");
    screen.waits_for("the log is kept");
    assert_eq!(settled(), format!("{run}\n"));
}
