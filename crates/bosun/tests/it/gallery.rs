//! A gallery of the page for reviewers: a home with runs in several states, screenshots of every view, an accessibility
//! check, and a server for external test programs. `cargo xtask` supplies the tools; without them, every view is only
//! rendered once.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::binary::{Place, stderr};
use crate::looked::{Looked, can_be_had};
use crate::served::{Api, PROJECT, Served, held};
use crate::stage::put;

const TIDE: &str = include_str!("gallery/tide.toml");
const ASKS: &str = include_str!("gallery/asks.toml");
const FAILS: &str = include_str!("gallery/fails.toml");
const SPEC: &str = include_str!("gallery/spec.yaml");
const WARN: &str = include_str!("gallery/warn.toml");
const CHAT: &str = include_str!("gallery/chat.toml");

const GOAL: &str =
    "Add the commands tide and moon to bin/harbor, with tests, and document both in README.md";

/// Window sizes: a desktop and a phone.
const SIZES: [(u32, u32); 2] = [(1280, 800), (390, 844)];

/// A server with runs in several states.
struct Gallery {
    place: Place,
    served: Served,
    admin: Api,
    /// The finished run with six tasks.
    tide: String,
    /// The run of a spec.
    spec: String,
    /// A conversation.
    chat: String,
}

fn harbor(place: &Place) {
    let repo = place.path().join(PROJECT);
    std::fs::create_dir_all(&repo).expect("a folder");
    place.git(&repo, &["init", "--quiet", "--initial-branch=main"]);
    let program = "#!/bin/sh\ncase $1 in\n  tide) . ./tide.sh ;;\n  moon) . ./moon.sh ;;\n  *) echo harbor 1.0 ;;\nesac\n";
    put(&repo, "bin/harbor", program);
    put(&repo, "test.sh", "for test in tests/*.sh; do sh \"$test\" || exit 1; done\n");
    put(&repo, "tests/version.sh", "test \"$(sh bin/harbor)\" = 'harbor 1.0'\n");
    put(&repo, "README.md", "# harbor\n\n`harbor` prints its version.\n");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Start"]);
    let path = repo.to_str().expect("a plain path");
    let added = place.run(&["project", "add", PROJECT, path]);
    assert!(added.status.success(), "{}", stderr(&added));
}

impl Gallery {
    async fn open() -> Self {
        let place = Place::new();
        harbor(&place);
        // With a key there is a model for forecasts; nothing is ever sent to it.
        let key = [("ANTHROPIC_API_KEY", "unused")];
        let served = Served::knowing(&place, "127.0.0.1:0", &["--rate", "2000"], &key);
        let admin = served.admin(&place);
        served.user(&place, "vic", &["--role", "viewer", "--project", PROJECT]);
        let budget = json!({ "money": "2.00" });
        let wanted = json!({ "project": PROJECT, "goal": GOAL, "script": TIDE, "budget": budget });
        let tide = started(&admin, "/runs", &wanted).await;
        let view = admin.over(&tide).await;
        assert_eq!(view["status"], "done", "{view}");
        let wanted = json!({ "project": PROJECT, "spec": SPEC, "script": WARN });
        let spec = started(&admin, "/runs", &wanted).await;
        // Its checks read no test of the repository, so a person is asked at the gate.
        admin.until_asked(&spec).await;
        let answer = format!("/runs/{spec}/questions/0/answer");
        admin.post(&answer, &json!({ "text": "go" })).await;
        admin.over(&spec).await;
        let fails = json!({
            "project": PROJECT, "goal": "Write wind.sh, which prints the wind in knots",
            "script": FAILS, "checks": ["sh tests/wind.sh"],
        });
        let fails = started(&admin, "/runs", &fails).await;
        admin.until_asked(&fails).await;
        let asks = admin.run("Let bin/harbor print heights in a unit of choice", ASKS).await;
        admin.until_asked(&asks).await;
        let cancelled = admin.run("Rename bin/harbor to bin/port", ASKS).await;
        admin.until_asked(&cancelled).await;
        let why = json!({ "reason": "not this week" });
        admin.post(&format!("/runs/{cancelled}/cancel"), &why).await;
        let script = held(&place.path().join("never"));
        let running = admin.run("Write greeting.txt for everybody who enters the harbor", &script);
        admin.until(&running.await, "plan.adopted").await;
        let text = "What does bin/harbor do, and what is missing?";
        let wanted = json!({ "project": PROJECT, "text": text, "script": CHAT });
        let chat = started(&admin, "/sessions", &wanted).await;
        Self { place, served, admin, tide, spec, chat }
    }

    /// Every view: name, address, and a text that it shows when complete.
    fn views(&self) -> Vec<(&'static str, String, &'static str)> {
        let of = |part: &str| format!("/runs/{}{part}", self.tide);
        let goal = "/new?text=Add+a+wind+command+to+bin%2Fharbor+and+document+it+in+README.md";
        vec![
            ("inbox", "/".to_owned(), "Which unit"),
            ("run", of(""), "Change log"),
            ("timeline", of("/timeline"), "T6"),
            ("review", of("/review?task=T3"), "tide.sh"),
            ("gate", of("/gate"), "Evidence"),
            ("why", of("/why"), "intake."),
            ("why-one", of("/why/2"), "intake."),
            ("money", of("/money"), "T3"),
            ("replay", of("/replay?at=30"), "30/"),
            ("replay-run", of("?at=60"), "Change log"),
            ("task", of("/tasks/T3"), "T3.2"),
            ("spec", format!("/runs/{}/spec", self.spec), "31 knots"),
            ("proof", of("/proof"), "Proof"),
            ("new", goal.to_owned(), "Admitted"),
            ("runs", "/runs".to_owned(), "Rename"),
            ("projects", "/projects".to_owned(), PROJECT),
            ("stats", "/stats".to_owned(), "Stats"),
            ("policies", "/policies/crew".to_owned(), "crew"),
            ("models", "/models".to_owned(), "Models"),
            ("users", "/users".to_owned(), "vic"),
            ("chat", format!("/chat/{}", self.chat), "neither file"),
        ]
    }

    async fn look(&self) -> Looked {
        Looked::by_link(&self.served).await
    }
}

async fn started(api: &Api, path: &str, wanted: &Value) -> String {
    api.post(path, wanted).await["run"].as_str().expect("an id").to_owned()
}

/// A setting made by `cargo xtask`.
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn told(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    if value.is_none() {
        eprintln!(
            "SKIPPED: {name} is not set; cargo xtask screenshots, axe, schemathesis, client do"
        );
    }
    value
}

/// Opens a view and waits until it is complete; returns the problem if it never is.
async fn settled(looked: &Looked, path: &str, shows: &str) -> Option<String> {
    looked.go(path).await;
    let shown = looked.page.wait_for(shows).await;
    looked.until("!document.querySelector('#main .skeleton, #main [aria-busy=true]')").await;
    shown.err().map(|_| format!("{path} does not show {shows:?}"))
}

#[tokio::test]
async fn every_view_is_drawn_and_fits_the_window() {
    if !can_be_had() {
        return;
    }
    let into = told("PICTURES").map(PathBuf::from);
    let themes = if into.is_some() { &[false, true][..] } else { &[false] };
    let gallery = Gallery::open().await;
    let looked = gallery.look().await;
    let mut wrong = Vec::new();
    for (name, path, shows) in gallery.views() {
        for (width, height) in SIZES {
            for &dark in themes {
                looked.page.size(width, height).await.expect("a size");
                looked.page.theme(dark).await.expect("a theme");
                wrong.extend(settled(&looked, &path, shows).await);
                if let Some(into) = &into {
                    let picture = looked.page.screenshot(width, height, dark).await;
                    let theme = if dark { "dark" } else { "light" };
                    let file = into.join(format!("{name}-{width}-{theme}.png"));
                    std::fs::write(&file, picture.expect("a picture")).expect("a file");
                }
                let wide = "document.documentElement.scrollWidth > innerWidth";
                if looked.eval(wide).await == true {
                    wrong.push(format!("{name} is wider than {width}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    looked.is_quiet();
}

/// Runs the checker in the page; returns the serious findings, one line each.
const JUDGE: &str = "axe.run(document, { resultTypes: ['violations'] }).then((all) => { \
    if (!all.passes.length) throw new Error('nothing was checked'); \
    return all.violations.filter((one) => ['serious', 'critical'].includes(one.impact)).flatMap((one) => \
    one.nodes.map((node) => `${one.id}: ${node.target.join(' ')}: ${node.failureSummary}`)); })";

#[tokio::test]
async fn every_view_is_accessible() {
    let Some(axe) = told("AXE").filter(|_| can_be_had()) else { return };
    let axe = std::fs::read_to_string(axe).expect("axe-core");
    let gallery = Gallery::open().await;
    let looked = gallery.look().await;
    let mut found = Vec::new();
    for (name, path, shows) in gallery.views() {
        for (width, height) in SIZES {
            for dark in [false, true] {
                looked.page.size(width, height).await.expect("a size");
                looked.page.theme(dark).await.expect("a theme");
                found.extend(settled(&looked, &path, shows).await);
                looked.page.eval(&format!("{axe}; true")).await.expect("the checker");
                let lines = looked.eval(JUDGE).await;
                let lines = lines.as_array().expect("findings").iter();
                let place = format!("{name} {width} {}", if dark { "dark" } else { "light" });
                found.extend(lines.map(|line| format!("{place}: {line}")));
            }
        }
    }
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}

/// Lets another program test the server; it gets the address and a token in its environment.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a program from outside tests the server")]
async fn another_program_uses_the_server() {
    let Some(command) = told("COMMAND") else { return };
    let gallery = Gallery::open().await;
    let status = tokio::process::Command::new("sh")
        .args(["-c", &command])
        .env("BOSUN_URL", gallery.served.url())
        .env("BOSUN_TOKEN", gallery.admin.client.token().expect("a token"))
        .env("BOSUN_PROJECT", PROJECT)
        .env("BOSUN_RUN", &gallery.tide)
        .env("BOSUN_SESSION", &gallery.chat)
        .env("BOSUN_SCRIPT", crate::served::TWO_TASKS)
        .status();
    let status = status.await.expect("the program runs");
    let log = std::fs::read_to_string(gallery.place.path().join("serve.log")).unwrap_or_default();
    let errors: Vec<&str> = log.lines().filter(|line| line.contains("ERROR")).collect();
    assert!(status.success() && errors.is_empty(), "{status}; the server's errors: {errors:#?}");
}
