//! Findings in an attempt's changes when it is sealed: changes to tests and recipes, and signs of deceived tests. Texts
//! are loaded here; `evidence` and the rules evaluate them.

use evidence::files::{self, FileKind};
use evidence::links;
use evidence::signs::{self, Change, ChangedFile};
use sandbox::{GitError, Repo};
use types::{
    Assignment, ChangeKind, CommitId, Finding, FindingKind, Findings, Sealed, Sensitive,
    VerifyPolicy, WorkPath, one_line,
};

/// The most files whose texts are compared.
const MOST_FILES: usize = 2_000;
/// The longest line that is kept, in characters.
const LONGEST: usize = 200;

/// The findings in the changes between `base` and the sealed commit.
pub(super) async fn findings(
    repo: &Repo,
    base: &CommitId,
    sealed: &Sealed,
    about: &Assignment,
    policy: &VerifyPolicy,
) -> Result<Findings, GitError> {
    let watched = rules::findings::watched(&sealed.changes, policy);
    let (read, named): (Vec<WorkPath>, Vec<WorkPath>) =
        watched.into_iter().partition(rules::findings::is_read);
    let mut diff = repo.diff_as_text(base, &sealed.commit, &read).await?;
    diff.push_str(&repo.diff(base, &sealed.commit, &named).await?);
    let mut found = rules::findings::findings(&diff, policy);
    let recipes = sealed.changes.0.iter().filter(|change| {
        // Checks run on fresh checkouts, so ignore files decide nothing.
        files::kind_of(change, &about.test_files) == FileKind::Recipe
            && !change.path.as_str().ends_with(".gitignore")
    });
    let finding = |kind: FindingKind, path: &WorkPath| {
        let (path, line) = (path.clone(), String::new());
        Finding { kind, path, line }
    };
    found.0.extend(recipes.map(|change| finding(FindingKind::RecipeChanged, &change.path)));
    found.0.extend(links_out(repo, base, sealed).await?);
    let settings = sealed.changes.0.iter().filter(|change| {
        matches!(Sensitive::of(&change.path), Some(Sensitive::Settings | Sensitive::OwnSettings))
    });
    found.0.extend(settings.map(|change| finding(FindingKind::SettingsChanged, &change.path)));
    if policy.trials || !policy.signs.is_empty() {
        found.0.extend(in_texts(repo, base, sealed, about).await?);
    }
    Ok(found)
}

/// Marks the files in which nothing but comments changed.
pub(super) async fn mark_comments(
    repo: &Repo,
    base: &CommitId,
    sealed: &mut Sealed,
) -> Result<(), GitError> {
    let modified = sealed.changes.0.iter().filter(|change| change.how == ChangeKind::Modified);
    let paths: Vec<WorkPath> = modified.take(MOST_FILES).map(|one| one.path.clone()).collect();
    let before = repo.texts(base, &paths).await?;
    let after = repo.texts(&sealed.commit, &paths).await?;
    for change in &mut sealed.changes.0 {
        let texts = text_of(&before, &change.path).zip(text_of(&after, &change.path));
        change.only_comments = texts.is_some_and(|(old, new)| {
            old != new && files::only_comments(change.path.as_str(), old, new)
        });
    }
    Ok(())
}

/// New links that lead out of the repository.
async fn links_out(
    repo: &Repo,
    base: &CommitId,
    sealed: &Sealed,
) -> Result<Vec<Finding>, GitError> {
    let links = repo.links(&sealed.commit).await?;
    let out = links::leading_out(&links);
    if out.is_empty() {
        return Ok(vec![]);
    }
    let old = repo.links(base).await?;
    let before = links::leading_out(&old);
    let new = out.into_iter().filter(|path| {
        // One that already led out is not counted, unless it has a new target.
        !before.contains(path) || old.get(*path) != links.get(*path)
    });
    let found = new.filter_map(|path| {
        let target = links.get(path).map(String::as_str).unwrap_or_default();
        let line = one_line(&format!("-> {target}"), LONGEST);
        Some(Finding { kind: FindingKind::LinkOut, path: path.parse().ok()?, line })
    });
    Ok(found.collect())
}

/// The text of a file among others.
pub(super) fn text_of<'a>(texts: &'a [(WorkPath, String)], path: &WorkPath) -> Option<&'a str> {
    texts.iter().find(|(other, _)| other == path).map(|(_, text)| text.as_str())
}

async fn in_texts(
    repo: &Repo,
    base: &CommitId,
    sealed: &Sealed,
    about: &Assignment,
) -> Result<Vec<Finding>, GitError> {
    let kind = |path: &WorkPath| files::kind(path.as_str(), &about.test_files);
    let changed: Vec<WorkPath> =
        sealed.changes.0.iter().map(|change| change.path.clone()).collect();
    let paths: Vec<WorkPath> = repo.paths(base).await?.into_iter().take(MOST_FILES).collect();
    let before = repo.texts(base, &paths).await?;
    let after = repo.texts(&sealed.commit, &changed).await?;
    let files = sealed.changes.0.iter().map(|change| {
        let (path, kind) = (&change.path, files::kind_of(change, &about.test_files));
        let (old, new) = (text_of(&before, path), text_of(&after, path));
        ChangedFile { path: path.as_str(), kind, old, new }
    });
    let changed: Vec<ChangedFile<'_>> = files.collect();
    let of_kind = |wanted: &[FileKind]| -> Vec<&str> {
        let texts = before.iter().filter(|(path, _)| wanted.contains(&kind(path)));
        texts.map(|(_, text)| text.as_str()).collect()
    };
    let mut tests = of_kind(&[FileKind::Test, FileKind::Data]);
    let new_tests = after.iter().filter(|(path, _)| kind(path) == FileKind::Test);
    tests.extend(new_tests.map(|(_, text)| text.as_str()));
    let change = Change {
        goal: &about.goal,
        files: &changed,
        tests: &tests,
        code: &of_kind(&[FileKind::Code]),
        documents: &of_kind(&[FileKind::Document]),
    };
    let found = signs::signs(&change).into_iter().filter_map(|sign| {
        let path = sign.path.parse().ok()?;
        Some(Finding { kind: sign.kind, path, line: one_line(&sign.line, LONGEST) })
    });
    Ok(found.collect())
}
