//! Read-only paths of the workspace, such as dependencies whose content is shared with other worktrees.

use sandbox::{Bounds, LocalEnvironment};
use types::{Millis, Scope, WorkPath};

use crate::fixture::{Fixture, run};

/// Attempts to change the content of a closed folder.
const TRIES: &str = "cd node_modules && for try in 'echo y > dep.js' 'echo y >> dep.js' 'rm dep.js' 'chmod 700 dep.js' \
     'touch -d 2001-01-01 dep.js' 'truncate -s 0 dep.js' 'ln dep.js ../stolen && echo y > ../stolen' \
     'mv ../node_modules ../moved' 'rm -rf ../node_modules' 'echo y > new.js'; do \
     (eval \"$try\") 2>/dev/null && echo \"through: $try\"; done; echo x > .cache/c && cat .cache/c; true";

fn paths(names: &[&str]) -> Vec<WorkPath> {
    names.iter().map(|name| name.parse().expect("a path")).collect()
}

/// Creates dependencies that are hard links to files elsewhere.
fn linked(fixture: &Fixture) {
    std::fs::create_dir_all(fixture.ws().join("node_modules/.cache")).expect("folders");
    std::fs::create_dir(fixture.ws().join("src")).expect("a folder");
    std::fs::write(fixture.out().join("dep.js"), "x\n").expect("a file");
    let to = fixture.ws().join("node_modules/dep.js");
    std::fs::hard_link(fixture.out().join("dep.js"), to).expect("a link");
}

async fn tried(fixture: &Fixture, scope: Option<Scope>) {
    linked(fixture);
    let (closed, reopened) = (paths(&["node_modules"]), paths(&["node_modules/.cache"]));
    let confine = fixture.confine_to(Bounds { scope, closed, reopened, ..Bounds::default() });
    let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace").confined(confine);
    let result = run(&env, TRIES, Millis::seconds(60)).await;
    assert_eq!(result.output, "x\n", "{}", result.output);
    let shared = std::fs::read_to_string(fixture.out().join("dep.js")).expect("a file");
    assert_eq!(shared, "x\n", "what is shared is as it was");
    assert!(run(&env, "echo x > src/new", Millis::seconds(60)).await.passed());
}

pub(crate) async fn a_closed_place_is_written_to_only_where_it_is_open_again(fixture: Fixture) {
    tried(&fixture, None).await;
}

pub(crate) async fn a_scope_around_a_closed_place_does_not_open_it(fixture: Fixture) {
    let places = ["src/", "node_modules/", "node_modules/.cache/"];
    let scope = Scope(places.map(|place| place.parse().expect("a place")).to_vec());
    tried(&fixture, Some(scope)).await;
}
