//! A trial is a check on an altered tree, so no program may be able to tell that it is one. Compared is everything that a
//! program can ask for, except the content of files, and so the objects of files and folders.

use std::collections::BTreeMap;

use crate::binary::Place;
use crate::commands::run;
use crate::stage::{Told, repository, script};

/// The product: it works, and writes down everything that it finds where it runs. Numbers that differ from one process to
/// the next, and times of today, are not compared.
const NOSY: &str = r#"echo 4
say() { printf 'FACT %s %s\n' "$1" "$(eval "$2" 2>&1 | sed 's/[0-9a-f]\{7,\}/X/g' | cksum)" >&2; }
say variables 'env | sort | grep -v "^_="'
say place 'pwd; hostname; uname -a; id; umask; tty; nproc; ulimit -a; ls -a / /src /tmp /var/tmp ~'
say history 'git log --format="%an %ae %ad %cn %ce %cd %s %P"; git rev-list --count HEAD'
say refs 'cat .git/HEAD; git branch -a; git for-each-ref --format="%(refname)"; git reflog; git stash list; git tag'
say settings 'git config --list; git remote -v; cat .git/config .git/objects/info/alternates; git status --short'
say commits 'git cat-file --batch-all-objects --batch-check | grep -c commit; find .git/objects $(cat .git/objects/info/alternates) | wc -l'
say files 'find . -path ./.git/objects -prune -o -printf "%p %m %u %g %n %y %TY\n" | sort'
say processes 'cat /proc/[0-9]*/cmdline | tr "\0" " " | grep -c sh'
say limits 'cat /proc/self/limits /proc/self/cgroup; sed -n "/NoNewPrivs/,/Seccomp/p" /proc/self/status'
say mounts 'cut -d" " -f4-6 /proc/self/mountinfo | sort'
say arguments 'tr "\0" " " < /proc/$PPID/cmdline'
"#;

/// The facts in the output of each check of the task's result, by its subject.
fn facts(told: &Told) -> BTreeMap<String, Vec<String>> {
    let ends = told.events("check.finished").into_iter();
    let of_task = ends.filter(|data| data["check"].to_string().contains("T1.1"));
    of_task
        .map(|data| {
            let text = data["end"]["output"]["text"].as_str().unwrap_or_default();
            let lines = text.lines().filter(|line| line.starts_with("FACT")).take(11);
            (data["check"].to_string(), lines.map(str::to_owned).collect())
        })
        .collect()
}

#[test]
fn nothing_tells_a_trial_from_a_check() {
    for warm in ["", "warm_from_ms = 0\n"] {
        let place = Place::new();
        let test = "[ \"$(sh double.sh 2)\" = 4 ] || exit 1\n";
        // Its own curiosity would be taken for a sign of a cheat, and end the trials.
        let policy = format!("headless = true\n[verify]\nsigns = []\n{warm}");
        let files =
            [("test.sh", test), ("double.sh", "echo 0\n"), (".bosun/policy.toml", policy.as_str())];
        let read = "[[attempt.reply]]\ncall = { tool = \"read_file\", path = \"double.sh\" }\n[[attempt.reply]]\ncall = { tool = \"write_file\"";
        let script = script("double.sh", NOSY)
            .replace("[[attempt.reply]]\ncall = { tool = \"write_file\"", read);
        let (repo, script) = repository(&place, &files, &script);
        place.trust(&repo);
        let goal = "Let double.sh print twice its argument";
        let told = Told::of(&place, &run(&repo, &script, goal));
        let facts = facts(&told);
        let all: Vec<&Vec<String>> = facts.values().collect();
        assert!(all.len() >= 2, "no trial was made: {facts:?} {}", told.said);
        assert!(all.iter().all(|facts| facts.len() == 11), "{facts:?} {}", told.said);
        assert!(all.iter().all(|facts| *facts == all[0]), "{facts:#?}");
    }
}
