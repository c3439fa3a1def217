//! Budgets that real sessions fit: eighty turns with a growing context, mostly read from a cache, at the prices of a
//! hosted model. Out of budget is a pause: `bosun resume` with a higher limit goes on at the call that did not fit.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::stage::{Told, repository};

const TASKS: u64 = 3;
const TURNS: u64 = 80;
const OUTPUT: u64 = 500;
/// Billionths of a dollar for a token, as in the catalogue for a current model.
const PRICE: [u64; 4] = [3_000, 15_000, 300, 3_750];

/// The input of a turn, and the parts of it that were read from and written to the cache.
fn input(turn: u64) -> (u64, u64, u64) {
    let all = 10_000 + turn * 90_000 / (TURNS - 1);
    let read = all * 9 / 10;
    (all, read, all - read)
}

/// Three coders of eighty turns, whose context grows from 10,000 to 100,000 tokens, nine tenths of it cached.
fn long_sessions() -> String {
    let task = |n: u64| {
        format!(
            "{{ id = \"T{n}\", title = \"Write it\", artifacts = [\"t{n}.txt\"], estimate_tokens = 2000 }}"
        )
    };
    let tasks: Vec<String> = (1..=TASKS).map(task).collect();
    let mut script = format!(
        "price = {{ input = \"3\", output = \"15\", cache_read = \"0.3\", cache_write = \"3.75\" }}\n\
         [[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\nusage = {{ input = 10000, output = 500 }}\n\
         submit = {{ tasks = [{}] }}\n",
        tasks.join(", ")
    );
    for n in 1..=TASKS {
        script.push_str(&format!("[[attempt]]\nrole = \"coder\"\ntask = \"T{n}\"\n"));
        for turn in 0..TURNS {
            let (all, read, write) = input(turn);
            let act = if turn + 1 == TURNS {
                "submit = { summary = \"done\" }".to_owned()
            } else {
                format!(
                    "call = {{ tool = \"write_file\", path = \"t{n}.txt\", content = \"{turn}\\n\" }}"
                )
            };
            script.push_str(&format!(
                "[[attempt.reply]]\nusage = {{ input = {all}, output = {OUTPUT}, cache_read = {read}, \
                 cache_write = {write} }}\n{act}\n"
            ));
        }
    }
    script
}

/// What all of it costs, in billionths of a dollar, computed from the prices alone.
fn cost() -> u64 {
    let [fresh, output, read, write] = PRICE;
    let turn = |turn: u64| {
        let (all, cached, written) = input(turn);
        (all - cached - written) * fresh + cached * read + written * write + OUTPUT * output
    };
    let coder: u64 = (0..TURNS).map(turn).sum();
    TASKS * coder + 10_000 * fresh + 500 * output
}

fn nanos(money: &Value) -> u64 {
    let text = money.as_str().expect("an amount");
    let (whole, part) = text.split_once('.').expect("a decimal");
    let part = format!("{part:0<9}");
    whole.parse::<u64>().expect("dollars") * 1_000_000_000 + part.parse::<u64>().expect("a part")
}

const FILES: &[(&str, &str)] = &[("test.sh", "exit 0\n")];
const GOAL: &str = "Write t1.txt, t2.txt and t3.txt";

/// Each of the calls in the log of every attempt, once.
fn once(place: &Place, run: &str) {
    for n in 1..=TASKS {
        let attempt = format!("T{n}.1");
        let log = stdout(&place.run(&["log", run, "--attempt", &attempt, "--json"]));
        let lines: Vec<Value> =
            log.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
        for (kind, field, expected) in [
            ("model.asked", "turn", TURNS),
            ("model.replied", "turn", TURNS),
            ("tool.started", "call", TURNS),
        ] {
            let of_kind: Vec<String> = lines
                .iter()
                .filter(|line| line["event"] == kind)
                .map(|line| line["data"][field].to_string())
                .collect();
            assert_eq!(of_kind.len() as u64, expected, "{attempt}: {kind}");
            let different: BTreeSet<&String> = of_kind.iter().collect();
            assert_eq!(different.len(), of_kind.len(), "{attempt}: {kind} is repeated");
        }
        let failed = lines.iter().any(|line| line["event"] == "model.failed");
        assert!(!failed, "{attempt} asked for nothing in vain");
    }
}

fn done(told: &Told) {
    assert_eq!((told.code, told.status()), (0, "done"), "{}", told.said);
    let report = told.report();
    assert_eq!(nanos(&report["spent"]["money"]), cost(), "{}", report["spent"]);
    let sent: u64 = (0..TURNS).map(|turn| input(turn).0).sum::<u64>() * TASKS + 10_000;
    let cached: u64 = (0..TURNS).map(|turn| input(turn).1).sum::<u64>() * TASKS;
    assert_eq!(report["usage"]["input"], sent);
    assert_eq!(report["usage"]["cache_read"], cached);
    assert_eq!(report["spent"]["tokens"], sent + TASKS * TURNS * OUTPUT + 500);
    assert_eq!((&report["attempts"], &report["retries"]), (&(TASKS + 1).into(), &0.into()));
}

/// An estimate of 2000 tokens for a task that takes four million is only a forecast.
#[test]
fn a_crew_of_long_sessions_is_done_under_the_defaults_and_its_cost_is_right() {
    let place = Place::new();
    let (repo, script) = repository(&place, FILES, &long_sessions());
    let (repo, script) = (repo.display().to_string(), script.display().to_string());
    let args = ["run", "--headless", "--repo", &repo, "--script", &script, GOAL];
    let told = Told::of(&place, &args);
    done(&told);
    assert!(told.events("budget.warned").is_empty(), "the default is a guard, far away");
    once(&place, told.id());
}

#[test]
fn a_run_out_of_money_is_paused_and_goes_on_where_it_was_when_the_limit_is_raised() {
    let place = Place::new();
    let (repo, script) = repository(&place, FILES, &long_sessions());
    let (repo, script) = (repo.display().to_string(), script.display().to_string());
    let args = ["run", "--headless", "--money", "1", "--repo", &repo, "--script", &script, GOAL];
    let told = Told::of(&place, &args);
    assert_eq!(told.code, 4, "{}", told.said);
    let spent = nanos(&told.report()["spent"]["money"]);
    assert!((500_000_000..=1_000_000_000).contains(&spent), "{spent}");
    let run = told.id().to_owned();
    assert!(told.said.contains(&format!("resume {run} --money 1.50")), "{}", told.said);

    // Totals that raise nothing are refused, and nothing is changed by that.
    for (flag, amount, message) in [
        ("--money", "1", "already has a limit of $1.0000, and $"),
        ("--tokens", "2M", "has no limit on tokens; its limits: $1.0000, "),
    ] {
        let output = place.run(&["resume", &run, flag, amount]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
    // Without more, it is paused again at the same place.
    let again = Told::of(&place, &["resume", &run]);
    assert_eq!(
        (again.code, nanos(&again.report()["spent"]["money"])),
        (4, spent),
        "{}",
        again.said
    );

    let told = Told::of(&place, &["resume", &run, "--money", "1.50"]);
    assert_eq!(told.code, 4, "fifty cents more are soon spent: {}", told.said);
    assert!(nanos(&told.report()["spent"]["money"]) > spent);
    let told = Told::of(&place, &["resume", &run, "--money", "15"]);
    done(&told);
    once(&place, &run);
    let replayed = place.run(&["replay", &run]);
    assert_eq!(replayed.status.code(), Some(0), "{}{}", stdout(&replayed), stderr(&replayed));
}

/// The estimates of a plan end nothing, and the next run is forecast from what was really used.
#[test]
fn estimates_that_are_far_too_low_end_nothing_and_forecasts_learn() {
    let place = Place::new();
    let task = |n: u64| {
        format!(
            "{{ id = \"T{n}\", title = \"Write it\", artifacts = [\"t{n}.txt\"], estimate_tokens = 2000 }}"
        )
    };
    let mut script = format!(
        "[[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\nusage = {{ input = 900, output = 100 }}\n\
         submit = {{ tasks = [{}, {}] }}\n",
        task(1),
        task(2)
    );
    for n in 1..=2 {
        script.push_str(&format!("[[attempt]]\nrole = \"coder\"\ntask = \"T{n}\"\n"));
        let usage = "[[attempt.reply]]\nusage = { input = 99000, output = 1000 }\n";
        for turn in 0..2 {
            script.push_str(&format!(
                "{usage}call = {{ tool = \"write_file\", path = \"t{n}.txt\", content = \"{turn}\\n\" }}\n"
            ));
        }
        script.push_str(&format!("{usage}submit = {{ summary = \"done\" }}\n"));
    }
    let (repo, script) = repository(&place, FILES, &script);
    let (repo, script) = (repo.display().to_string(), script.display().to_string());
    let args =
        ["run", "--headless", "--repo", &repo, "--script", &script, "Write t1.txt and t2.txt"];
    for from in ["plan", "earlier_runs"] {
        let told = Told::of(&place, &args);
        assert_eq!((told.code, told.status()), (0, "done"), "{}", told.said);
        let report = told.report();
        assert_eq!(report["spent"]["tokens"], 601_000);
        assert_eq!(report["variance"][1]["estimate_tokens"], 2_000);
        assert_eq!(report["variance"][1]["spent"]["tokens"], 300_000);
        assert_eq!(report["forecast"]["from"], from);
        if from == "earlier_runs" {
            assert_eq!(
                report["forecast"]["tokens"], 721_200,
                "300,500 for each task, and the reserve"
            );
        }
    }
}

/// Without a price, tokens are limited; what was read from the cache counts a tenth. A single agent pauses, too.
#[test]
fn a_single_agent_out_of_tokens_is_paused_and_goes_on() {
    let place = Place::new();
    let reply = |act: &str| {
        format!(
            "[[attempt.reply]]\nusage = {{ input = 100000, output = 100, cache_read = 90000 }}\n{act}\n"
        )
    };
    let mut script = "[[attempt]]\nrole = \"solo\"\n".to_owned();
    for turn in 0..5 {
        script.push_str(&reply(&format!(
            "call = {{ tool = \"write_file\", path = \"a.txt\", content = \"{turn}\" }}"
        )));
    }
    script.push_str(&reply("say = \"It is written.\""));
    let (repo, script) = repository(&place, FILES, &script);
    let (repo, script) = (repo.display().to_string(), script.display().to_string());
    let args = [
        "run", "--preset", "solo", "--repo", &repo, "--script", &script, "--tokens", "80k", "Write",
    ];
    let told = Told::of(&place, &args);
    assert_eq!(told.code, 4, "{}", told.said);
    let run = told.id().to_owned();
    // Turns of 100,100 tokens count 19,100 each.
    assert_eq!(told.report()["session"]["turns"], 4, "{}", told.report());
    let refused = place.run(&["resume", &run, "--tokens", "80k"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    let told = Told::of(&place, &["resume", &run, "--tokens", "1M"]);
    assert_eq!(told.code, 0, "{}", told.said);
    assert_eq!(told.report()["reply"], "It is written.");
    assert_eq!(told.report()["session"]["turns"], 6);
}

/// One coder that writes a file and hands it in, each of its calls with this much input and delay.
fn coder(calls: u64, input: u64, delay_ms: u64) -> String {
    let mut script = "[[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\nusage = { input = 900, output = 100 }\n\
         submit = { tasks = [{ id = \"T1\", title = \"Write it\", artifacts = [\"t1.txt\"] }] }\n\
         [[attempt]]\nrole = \"coder\"\ntask = \"T1\"\n"
        .to_owned();
    for call in 1..=calls {
        let act = match call == calls {
            true => "submit = { summary = \"done\" }".to_owned(),
            false => format!(
                "call = {{ tool = \"write_file\", path = \"t1.txt\", content = \"{call}\\n\" }}"
            ),
        };
        script.push_str(&format!(
            "[[attempt.reply]]\ndelay_ms = {delay_ms}\nusage = {{ input = {input}, output = 100 }}\n{act}\n"
        ));
    }
    script
}

/// Usage can exceed every estimate. The command that continues covers it, and a total that does not is refused.
#[test]
fn the_total_that_continues_is_above_what_is_spent() {
    let place = Place::new();
    let (repo, script) = repository(&place, FILES, &coder(3, 100_000, 0));
    let (repo, script) = (repo.display().to_string(), script.display().to_string());
    let told = Told::of(
        &place,
        &[
            "run",
            "--headless",
            "--tokens",
            "80k",
            "--repo",
            &repo,
            "--script",
            &script,
            "Write t1.txt",
        ],
    );
    assert_eq!(told.code, 4, "{}", told.said);
    assert_eq!(told.report()["spent"]["tokens"], 101_100);
    let run = told.id().to_owned();
    let listed = stdout(&place.run(&["list", "--state", "out-of-budget"]));
    assert!(
        listed.contains(&run) && listed.contains("waiting for a person, out of budget"),
        "{listed}"
    );
    for total in ["81k", "101100"] {
        let refused = place.run(&["resume", &run, "--tokens", total]);
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
        let says = "101100 tokens are spent; name the new total, above 101100 tokens";
        assert!(stderr(&refused).contains(says), "{}", stderr(&refused));
    }
    let command = format!("resume {run} --tokens ");
    let after = told.said.split(&command).nth(1).expect("the command that continues");
    let total = after.split(|c: char| !c.is_ascii_digit()).next().expect("a total");
    assert!(total.parse::<u64>().expect("tokens") > 104_000, "{total}");
    let told = Told::of(&place, &["resume", &run, "--tokens", total]);
    assert_eq!(
        (told.code, told.report()["spent"]["tokens"].as_u64()),
        (4, Some(201_200)),
        "one call more: {}",
        told.said
    );
    let told = Told::of(&place, &["resume", &run, "--tokens", "1M"]);
    assert_eq!((told.code, told.status()), (0, "done"), "{}", told.said);
}
