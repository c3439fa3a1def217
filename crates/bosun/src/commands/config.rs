//! `bosun config`, `bosun trust` and `bosun schema`: the settings with the layer of each, trusted projects, and the
//! formats of the files that people write.

use runtime::settings::{self, CONFIG};
use runtime::trust::{TrustStore, project_files};
use runtime::{Clock as _, RealClock, presets};
use serde_json::{Value, json};
use types::{Digest, nearest};

use crate::args::{self, ConfigCommand};
use crate::config;
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print;

pub(crate) fn config(home: &Home, args: &args::Config) -> anyhow::Result<Exit> {
    match &args.command {
        ConfigCommand::Show { origin, json, repo } => show(home, repo, *origin, *json),
        ConfigCommand::Path { json, repo } => paths(home, repo, *json),
    }
}

/// Top of a project whose files take effect; prints a note if they are not trusted.
fn project(home: &Home, repo: &std::path::Path) -> anyhow::Result<Option<std::path::PathBuf>> {
    let top = presets::top(repo);
    let Some(files) = project_files(&top)? else { return Ok(Some(top)) };
    if home.without_project {
        return Ok(None);
    }
    if TrustStore::at(&home.folder()?).holds(&files)? {
        return Ok(Some(top));
    }
    let folder = crate::print::path(&files.folder);
    print::note(&format!(
        "ignoring the project's untrusted files; trust them with: bosun trust {folder}"
    ));
    Ok(None)
}

fn show(home: &Home, repo: &std::path::Path, origin: bool, json: bool) -> anyhow::Result<Exit> {
    let project = project(home, repo)?;
    let loaded = config::load(project.as_deref(), &[])?;
    for setting in &loaded.values {
        // Headers are hidden, because any of them may contain a key.
        let names: Vec<&str> = setting.path.iter().map(String::as_str).collect();
        let hidden = matches!(names[..], ["providers", _, "headers", _]);
        let (value, shown) = match hidden {
            true => (Value::from("[not shown]"), "\"[not shown]\"".to_owned()),
            false => {
                let value = serde_json::to_value(&setting.value).unwrap_or_default();
                (value, setting.value.to_string())
            }
        };
        let object = json!({
            "key": setting.key(), "value": value, "layer": setting.origin.level.as_str(),
            "place": setting.origin.place,
        });
        let (key, shown) = (print::one_line(&setting.key(), 200), print::one_line(&shown, 400));
        let from = match origin {
            true => format!("    # {}", print::one_line(&setting.origin.to_string(), 300)),
            false => String::new(),
        };
        print::result(json, &object, &format!("{key} = {shown}{from}\n"))?;
    }
    Ok(Exit::Done)
}

fn paths(home: &Home, repo: &std::path::Path, json: bool) -> anyhow::Result<Exit> {
    let sources = config::sources(None);
    let own = presets::top(repo).join(CONFIG);
    let taken = project(home, repo)?.is_some();
    let all = [
        ("system", sources.system),
        ("user", sources.models),
        ("user", sources.user),
        ("user policy", config::policy_file()),
        ("project", Some(own)),
        ("project policy", Some(presets::top(repo).join(presets::POLICY))),
    ];
    for (layer, path) in all.into_iter().filter_map(|(layer, path)| Some((layer, path?))) {
        let exists = path.exists();
        let read = exists && (taken || !layer.starts_with("project"));
        let object = json!({ "layer": layer, "path": path, "exists": exists, "read": read });
        let state = match (exists, read) {
            (_, true) => "read",
            (true, false) if home.without_project => "ignored",
            (true, false) => "not trusted",
            (false, false) => "missing",
        };
        let path = print::one_line(&path.display().to_string(), 400);
        print::result(json, &object, &format!("{layer:<15} {state:<12} {path}\n"))?;
    }
    Ok(Exit::Done)
}

/// `bosun trust`.
pub(crate) fn trust(home: &Home, args: &args::Trust) -> anyhow::Result<Exit> {
    let store = TrustStore::at(&home.folder()?);
    if args.list {
        for known in store.list()? {
            let folder = print::one_line(&known.folder.display().to_string(), 400);
            let said = format!("{}  {}  {folder}\n", known.at.date(), known.digest.short());
            print::result(args.json, &known, &said)?;
        }
        return Ok(Exit::Done);
    }
    let top = presets::top(&args.repo);
    if args.revoke {
        let changed = store.revoke(&top)?;
        let says = if changed { "no longer trusted\n" } else { "was not trusted\n" };
        print::result(args.json, &json!({ "folder": top, "revoked": changed }), says)?;
        return Ok(Exit::Done);
    }
    if !args.repo.is_dir() {
        return Err(CliError::NoFolder { path: args.repo.display().to_string() }.into());
    }
    let Some(files) = project_files(&top)? else {
        let says = "nothing to trust: this project has no files of its own for agents\n";
        print::result(args.json, &json!({ "folder": top, "files": [] }), says)?;
        return Ok(Exit::Done);
    };
    store.trust(&files, RealClock.now())?;
    let names: Vec<&String> = files.files.iter().map(|(name, _)| name).collect();
    let object = json!({ "folder": files.folder, "digest": files.digest, "files": names });
    let line = |(name, digest): &(String, Digest)| format!("trusted  {}  {name}\n", digest.short());
    print::result(args.json, &object, &files.files.iter().map(line).collect::<String>())?;
    Ok(Exit::Done)
}

/// Function that builds a schema.
type Schema = fn() -> Value;

/// Schemas by name.
const SCHEMAS: [(&str, Schema); 6] = [
    ("config", settings::schema),
    ("models", settings::models_schema),
    ("policy", presets::schema),
    ("plan", rules::plan::schema),
    ("spec", rules::spec::schema),
    ("intent", rules::spec::intent::schema),
];

/// `bosun schema`.
pub(crate) fn schema(args: &args::Schema) -> anyhow::Result<Exit> {
    let names = || SCHEMAS.iter().map(|(name, _)| *name);
    let Some((_, schema)) = SCHEMAS.iter().find(|(name, _)| *name == args.name) else {
        let near = nearest(&args.name, names()).map(|near| format!("; did you mean {near}?"));
        let known =
            format!("{}{}", names().collect::<Vec<_>>().join(", "), near.unwrap_or_default());
        return Err(CliError::NoSchema { name: args.name.clone(), known }.into());
    };
    print::line(&serde_json::to_string_pretty(&schema())?)?;
    Ok(Exit::Done)
}
