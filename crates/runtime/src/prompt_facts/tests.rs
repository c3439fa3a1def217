//! Collecting facts from real folders: with and without git, from the root down, in each family's own files.

use sandbox::Repo;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_760_000_000_000);

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        put(dir.path(), name, text);
    }
    dir
}

fn put(dir: &Path, name: &str, text: &str) {
    let file = dir.join(name);
    std::fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
    std::fs::write(file, text).expect("a file");
}

async fn prompt(folder: &Path, family: Family) -> String {
    let prompts = Prompts::default();
    let source = source(folder, prompts.base(), Some("Be kind."));
    built(&source, &ToolProfile::of(family)).await
}

fn source(folder: &Path, base: &str, instruction: Option<&str>) -> PromptSource {
    let (folder, base) = (folder.to_owned(), base.to_owned());
    let instruction = instruction.map(str::to_owned);
    PromptSource { folder, environment: None, base, instruction }
}

async fn built(source: &PromptSource, profile: &ToolProfile) -> String {
    let model: ModelRef = "script/x".parse().expect("a model");
    source.prompt(&Prompts::default(), (&model, profile), NOW).await.expect("a folder")
}

async fn paths(folder: &Path, family: Family) -> Vec<String> {
    let documents = project_documents(folder, &ToolProfile::of(family)).await;
    documents.into_iter().map(|document| document.path.to_string()).collect()
}

/// A48, A49: from the repository's root down to the folder, AGENTS.md and the family's own file, nothing else.
#[tokio::test]
async fn a_family_gets_its_own_documents_from_the_root_down() {
    let files = [
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        ".codex/instructions.md",
        "README.md",
        "a/AGENTS.md",
        "a/b/CLAUDE.md",
        "a/b/c/AGENTS.md",
        "other/AGENTS.md",
    ];
    let files = files.map(|name| (name, name));
    let dir = folder(&files);
    Repo::create(dir.path(), "x", NOW).await.expect("a repository");
    let b = dir.path().join("a/b");
    for (family, wanted) in [
        (Family::OpenAi, &["AGENTS.md", ".codex/instructions.md", "a/AGENTS.md"][..]),
        (Family::Anthropic, &["AGENTS.md", "CLAUDE.md", "a/AGENTS.md", "a/b/CLAUDE.md"]),
        (Family::Gemini, &["AGENTS.md", "GEMINI.md", "a/AGENTS.md"]),
        (Family::Portable, &["AGENTS.md", "a/AGENTS.md"]),
    ] {
        assert_eq!(paths(&b, family).await, wanted, "{}", family.as_str());
    }
}

/// A64: a custom profile has its own documents, and its prompt names its tools.
#[tokio::test]
async fn a_profile_of_ones_own_has_its_documents_and_its_names() {
    let dir = folder(&[("AGENTS.md", "all"), ("HOUSE.md", "ours"), ("CLAUDE.md", "theirs")]);
    let profile = ToolProfile {
        names: [("shell".to_owned(), "bash".to_owned())].into(),
        documents: vec!["HOUSE.md".to_owned()],
        parallel_calls: false,
        ..ToolProfile::of(Family::Portable)
    };
    let documents = project_documents(dir.path(), &profile).await;
    let paths: Vec<&str> = documents.iter().map(|document| document.path.as_str()).collect();
    assert_eq!(paths, ["AGENTS.md", "HOUSE.md"]);
    let text = built(&source(dir.path(), "You are.", None), &profile).await;
    assert!(text.contains("`bash`") && !text.contains("`shell`"), "{text}");
    assert!(text.contains("\nours\n") && text.contains("run one after the other"), "{text}");
}

#[tokio::test]
async fn without_a_repository_only_the_folders_own_documents_are_taken() {
    let dir = folder(&[("AGENTS.md", "above"), ("sub/AGENTS.md", "here")]);
    assert_eq!(paths(&dir.path().join("sub"), Family::Portable).await, ["AGENTS.md"]);
    let text = prompt(&dir.path().join("sub"), Family::Portable).await;
    assert!(text.contains("git: no repository") && text.contains("\nhere\n"), "{text}");
    assert!(!text.contains("above"), "{text}");
}

/// A47, A51: a full prompt, with facts from git and the instruction last.
#[tokio::test]
async fn a_prompt_tells_the_branch_the_changes_and_the_commits() {
    let dir = folder(&[("a.txt", "1"), ("b.txt", "1")]);
    Repo::create(dir.path(), "Begin the log book", NOW).await.expect("a repository");
    put(dir.path(), "a.txt", "changed");
    put(dir.path(), "new/c.txt", "1");
    std::fs::remove_file(dir.path().join("b.txt")).expect("a file");
    let text = prompt(&dir.path().join("new"), Family::Anthropic).await;
    assert!(text.starts_with(Prompts::default().base().trim_end()), "{text}");
    assert!(text.contains("\ngit branch: main\n"), "{text}");
    let status = "git status when the session began:\n  M a.txt\n  D b.txt\n  ?? new/\n";
    assert!(text.contains(status), "{text}");
    assert!(text.contains("last commits:\n") && text.contains(" Begin the log book\n"), "{text}");
    assert!(text.contains("date: 2025-10-09\n") && text.ends_with("Be kind.\n"), "{text}");
    assert_eq!(text, prompt(&dir.path().join("new"), Family::Anthropic).await, "stable bytes");
}

/// Examining a repository runs nothing that it configures.
#[tokio::test]
async fn looking_at_a_hostile_repository_runs_none_of_its_commands() {
    let dir = folder(&[("a.txt", "1"), (".gitattributes", "* filter=evil diff=evil\n")]);
    Repo::create(dir.path(), "x", NOW).await.expect("a repository");
    let ran = dir.path().join("ran");
    let evil = format!("touch {}", ran.display());
    let config = format!(
        "[core]\n\tfsmonitor = {evil}\n\tpager = {evil}\n[filter \"evil\"]\n\tclean = {evil}\n\tprocess = {evil}\n\
         [diff \"evil\"]\n\tcommand = {evil}\n[log]\n\tshowSignature = true\n[gpg]\n\tprogram = {evil}\n"
    );
    let file = dir.path().join(".git/config");
    let own = std::fs::read_to_string(&file).expect("a configuration");
    std::fs::write(&file, format!("{own}{config}")).expect("a configuration");
    put(dir.path(), "a.txt", "2");
    let text = prompt(dir.path(), Family::Portable).await;
    assert!(text.contains("M a.txt"), "{text}");
    assert!(!ran.exists(), "a command of the repository ran");
}

/// Prompt and schemas of a session are small: at four bytes per token, at most 3,000 tokens.
#[tokio::test]
async fn prompt_and_tools_of_a_first_request_stay_small() {
    let dir = folder(&[("a.txt", "1")]);
    Repo::create(dir.path(), "x", NOW).await.expect("a repository");
    for family in Family::ALL {
        let text = prompt(dir.path(), family).await;
        let plain = tools::Registry::standard();
        let all = tools::profile::adapted(&ToolProfile::of(family), &plain);
        let specs: Vec<String> = all.names().map(str::to_owned).collect();
        let specs = all.specs(&specs).expect("its own tools");
        let schemas = serde_json::to_string(&specs).expect("JSON");
        let bytes = text.len() + schemas.len();
        assert!(bytes < 14_000, "{}: {bytes} bytes", family.as_str());
    }
}
