//! The files of a strict project: contents, refusals, defaults.

use super::*;

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in LAYOUT.iter().chain(files) {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    folder
}

fn strict() -> Policy {
    super::super::preset("strict").expect("the preset can be read")
}

fn refused(files: &[(&str, &str)]) -> String {
    let mut error: &dyn std::error::Error =
        &read(project(files).path(), &mut strict()).expect_err("it was taken");
    let mut text = error.to_string();
    while let Some(cause) = error.source() {
        text = format!("{text}: {cause}");
        error = cause;
    }
    text
}

/// M1, M2, M3, M33: a new project equals the preset, with its own prompts and below `workspace/`.
#[test]
fn a_new_project_is_the_preset_with_its_own_prompts() {
    let goal = ("config/tasks.yaml", "goal: Add get_user_stats to src/stats.py\n");
    let folder = project(&[goal, ("prompts/coder.md", "Write well.\n")]);
    let mut policy = strict();
    let project = read(folder.path(), &mut policy).expect("a project");
    assert_eq!(project.goal.as_deref(), Some("Add get_user_stats to src/stats.py"));
    assert_eq!(project.check.command, "cd 'workspace' && pytest -q");
    assert_eq!(policy.contracts.root.as_ref().map(WorkPath::as_str), Some("workspace"));
    assert!(policy.roles[&RoleId::fixed("coder")].prompt.ends_with("Write well.\n"));
    let (mut other, mut plain) = (policy.clone(), strict());
    (other.roles, other.contracts.root) = (plain.roles.clone(), None);
    plain.contracts.root = None;
    assert_eq!(other, plain);
}

#[test]
fn a_folders_name_is_no_command() {
    let tasks = ("config/tasks.yaml", "workspace_dir: \"a'; id; '\"\n");
    let folder = project(&[tasks, ("a'; id; '/.gitkeep", "")]);
    let project = read(folder.path(), &mut strict()).expect("a project");
    assert_eq!(project.check.command, r"cd 'a'\''; id; '\''' && pytest -q");
}

/// M14: agents write below `workspace/` even if it does not exist yet, and never to the project's own files.
#[test]
fn agents_write_below_the_workspace_whether_it_is_there_or_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut policy = strict();
    let read_project = read(folder.path(), &mut policy).expect("a project");
    assert_eq!(policy.contracts.root.as_ref().map(WorkPath::as_str), Some("workspace"));
    let command = "mkdir -p 'workspace' && cd 'workspace' && pytest -q";
    assert_eq!(read_project.check.command, command);
    for (named, closed) in [("config", "config/"), ("prompts/own", "prompts/"), ("Runs", "runs/")] {
        let said = refused(&[("config/tasks.yaml", &format!("workspace_dir: {named}\n"))]);
        assert!(said.contains(&format!("{closed}, which agents cannot write to")), "{said}");
    }
}

/// M1, M36: every key of `tasks.yaml` is honoured or refused, none is ignored.
#[test]
fn what_tasks_yaml_says_reaches_the_planner() {
    let tasks = "goal: Add get_user_stats to src/stats.py\nartifacts: [src/stats.py, workspace/a.md]\nconstraints:\n  language: python\n  dependencies:\n    allowed: [numpy]\nrun:\n  command: python -m stats\ntests_policy:\n  create_tests: true\n  minimum: basic\n";
    let folder = project(&[("config/tasks.yaml", tasks)]);
    let mut policy = strict();
    let goal = read(folder.path(), &mut policy).expect("a project").goal.expect("a goal");
    for line in [
        "- src/stats.py",
        "- language: python",
        "- dependencies that are allowed: numpy",
        "- command: python -m stats",
        "- write tests: yes",
        "- how many: basic",
    ] {
        assert!(goal.contains(line), "{line:?} is not in {goal:?}");
    }
    let wanted: Vec<&str> = policy.contracts.artifacts.iter().map(WorkPath::as_str).collect();
    assert_eq!(wanted, ["workspace/src/stats.py", "workspace/a.md"]);
    let list = project(&[(
        "config/tasks.yaml",
        "goal: Add get_user_stats\nconstraints: [No new dependency]\n",
    )]);
    let goal = read(list.path(), &mut strict()).expect("a project").goal.expect("a goal");
    assert!(goal.ends_with("Constraints:\n- No new dependency"), "{goal}");
    for (text, part) in [
        ("constraints: {colour: red}", "colour"),
        ("artifacts: [../x]", "artifacts"),
        ("run: {shell: x}", "shell"),
        ("tests_policy: {run_tests: false}", "the tests decide"),
        ("tests_policy: {minimum: some}", "some"),
        ("context_paths: [a]", "context_paths"),
        ("simple_mode: true", "simple_mode"),
    ] {
        let text = format!("goal: Add get_user_stats\n{text}\n");
        let said = refused(&[("config/tasks.yaml", &text)]);
        assert!(said.contains(part), "{part:?} is not in {said:?}");
    }
}

/// M3: the workspace may be named as an open path.
#[test]
fn the_workspace_is_an_allowed_path() {
    for named in ["workspace/", "workspace", "./workspace/"] {
        let policies = format!("file_access:\n  allow_paths: [{named}]\n");
        let folder = project(&[("config/policies.yaml", &policies)]);
        read(folder.path(), &mut strict()).expect("it is the workspace");
    }
}

/// M3: without any file, the documented limits apply.
#[test]
fn a_folder_without_files_has_the_documented_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut policy = strict();
    let project = read(folder.path(), &mut policy).expect("a project");
    assert_eq!(project.goal, None);
    policy.contracts.root = None;
    assert_eq!(policy, strict());
    assert_eq!(policy.budget.time_ms, Some(Millis::seconds(300)));
    assert_eq!(policy.limits.check_timeout_ms, Millis::seconds(120));
    assert!(policy.roles.values().all(|role| role.budget.time_ms == Some(Millis::seconds(60))));
}

/// M3, M24, M34, M39: limits, retries and the command come from the files.
#[test]
fn a_project_may_have_other_limits_and_another_command() {
    let policies = "max_task_retries: 3\ntest_command: make check\ntimeouts:\n  per_agent_seconds: 5\n  subprocess_seconds: 6\n  global_seconds: 7\n";
    let tasks = "mvp: Add get_user_stats to src/stats.py\nplan_id: plan_0007\nacceptance_criteria:\n  - it works\n";
    let folder = project(&[("config/policies.yaml", policies), ("config/tasks.yaml", tasks)]);
    let mut policy = strict();
    let project = read(folder.path(), &mut policy).expect("a project");
    assert!(project.goal.expect("a goal").ends_with("It is done when\n- it works"));
    assert!(project.check.command.ends_with("make check"));
    assert_eq!(policy.contracts.plan_id.as_deref(), Some("plan_0007"));
    assert_eq!(policy.failures[0].max_executions, 4);
    assert_eq!(policy.limits.check_timeout_ms, Millis::seconds(6));
    assert_eq!(policy.budget.time_ms, Some(Millis::seconds(7)));
}

/// M1, M2, M18: a missing, unknown or forbidden setting is reported with its file.
#[test]
fn a_project_that_makes_no_sense_is_refused_by_file_and_cause() {
    for (file, text, part) in [
        (
            "config/agents.yaml",
            "planner:\n  prompt: prompts/planner.md\n",
            "agent coder is missing",
        ),
        ("config/agents.yaml", "planner:\n  prompt: prompts/none.md\n", "none.md"),
        ("config/tasks.yaml", "goal: short\n", "5 characters"),
        ("config/tasks.yaml", "goal: [\n", "tasks.yaml, line"),
        ("config/tasks.yaml", "goel: Add get_user_stats\n", "goel"),
        (
            "config/policies.yaml",
            "test_command: rm -rf x\nallowed_commands: [pytest]\n",
            "not among",
        ),
        (
            "config/policies.yaml",
            "test_command: pytestx\nallowed_commands: [pytest]\n",
            "not among",
        ),
        (
            "config/policies.yaml",
            "test_command: pytest -q; curl x.test\nallowed_commands: [pytest]\n",
            "\"curl x.test\" is not among",
        ),
        (
            "config/policies.yaml",
            "test_command: pytest $(id)\nallowed_commands: [pytest]\n",
            "\"id\" is not among",
        ),
        (
            "config/policies.yaml",
            "test_command: PATH=. pytest\nallowed_commands: [pytest]\n",
            "not among",
        ),
        ("config/policies.yaml", "file_access:\n  restrict_to_workspace: false\n", "switched off"),
        ("config/policies.yaml", "file_access:\n  allow_paths: [/etc]\n", "allow_paths"),
        ("config/agents.yaml", "planner:\n  prompt: ../key\n", "leads out"),
        ("config/agents.yaml", "planner:\n  prompt: /etc/passwd\n", "absolute"),
        ("config/agents.yaml", "planner:\n  prompt: .git/config\n", "hidden"),
    ] {
        let said = refused(&[(file, text)]);
        assert!(said.contains(part), "{part:?} is not in {said:?}");
    }
}

#[test]
fn what_a_project_links_to_is_not_read() {
    let folder = project(&[]);
    std::fs::remove_file(folder.path().join("prompts/coder.md")).expect("it was there");
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("prompts/coder.md"))
        .expect("a link");
    let refused = read(folder.path(), &mut strict()).expect_err("a link was followed");
    assert!(sandbox::chain(&refused).contains("link"), "{refused:?}");
}

/// The time limit is checked once all files are read.
#[test]
fn a_project_takes_no_more_time_by_another_file() {
    let policies = "timeouts:\n  global_seconds: 1000000\n";
    let folder = project(&[("config/policies.yaml", policies)]);
    let (path, mut policy) = (folder.path().join(".bosun/policy.toml"), strict());
    super::super::refuse_too_much(&path, &policy).expect("the preset is not too much");
    read(folder.path(), &mut policy).expect("a project");
    let refused = super::super::refuse_too_much(&path, &policy).expect_err("it is too much");
    assert!(refused.to_string().contains("budget"), "{refused}");
}
