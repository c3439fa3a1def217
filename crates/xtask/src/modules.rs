//! The module graph of a crate: which file uses which, read from `use` lines and paths in the code. A re-exported name
//! leads to the file that defines it, and a `mod` line is not a use. Tests are excluded.
//!
//! It knows paths, not types: a method defined in another file than its type is not seen.

mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::code;
use crate::finding::Finding;
use crate::tree::Tree;

/// The folders of a crate from the lowest to the highest: each uses only those before it.
const ORDER: &[(&str, &[&str])] =
    &[("engine", &["machine", "agent", "state", "stages", "coordinator", "export"])];

/// The files of one crate by module path (empty for the root), with their uses.
#[derive(Debug)]
pub(crate) struct Graph {
    files: BTreeMap<Module, File>,
    uses: BTreeMap<Module, BTreeSet<Module>>,
}

/// The path of a module in its crate: `["run", "apply"]`.
type Module = Vec<String>;

#[derive(Debug)]
struct File {
    path: String,
    /// Its re-exports: the name, and its path.
    exports: BTreeMap<String, Vec<String>>,
    /// Modules that it re-exports with a glob.
    globs: Vec<Vec<String>>,
    defines: BTreeSet<String>,
    paths: Vec<Vec<String>>,
}

impl Graph {
    pub(crate) fn of(tree: &Tree, name: &str) -> Self {
        let folder = format!("crates/{name}/src/");
        let mut files = BTreeMap::new();
        for (path, text) in tree.under(&folder).filter(|(path, _)| path.ends_with(".rs")) {
            if code::is_test_file(path) || path.contains("/src/testing") {
                continue;
            }
            let read = paths::read(text);
            let module = module_of(&path[folder.len()..]);
            let file = File {
                path: path.to_owned(),
                exports: read.names,
                globs: read.globs,
                defines: read.defines,
                paths: read.paths,
            };
            files.insert(module, file);
        }
        let mut graph = Self { files, uses: BTreeMap::new() };
        for (module, file) in &graph.files {
            let targets = file.paths.iter().filter_map(|path| graph.target(module, path, 0));
            let others = targets.filter(|target| target != module).collect();
            graph.uses.insert(module.clone(), others);
        }
        graph
    }

    /// The file that defines the target of a path; `None` for other crates.
    fn target(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        // Stops at a re-export cycle.
        if depth > 16 {
            return None;
        }
        let (mut at, mut rest) = match path.first().map(String::as_str)? {
            "crate" => (Module::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => (from[..from.len().saturating_sub(1)].to_vec(), &path[1..]),
            first if self.files.contains_key(&child(from, first)) => (from.clone(), path),
            first => {
                // A module imported by a `use` line, and an item of it.
                let stands_for = self.files.get(from)?.exports.get(first)?;
                let whole: Vec<String> = stands_for.iter().chain(&path[1..]).cloned().collect();
                return (stands_for.first() != path.first())
                    .then(|| self.target(from, &whole, depth + 1))?;
            }
        };
        while let Some(first) = rest.first() {
            if first == "super" {
                at.pop();
            } else if self.files.contains_key(&child(&at, first)) {
                at.push(first.clone());
            } else {
                break;
            }
            rest = &rest[1..];
        }
        // A module alone does not show which of its items are used; paths through it do.
        let name = rest.first()?;
        let file = self.files.get(&at)?;
        if let Some(stands_for) = file.exports.get(name) {
            // Items from other crates are not followed.
            return self.target(&at, stands_for, depth + 1);
        }
        let of_glob = file.globs.iter().filter(|_| !file.defines.contains(name)).find_map(|glob| {
            let whole: Vec<String> = glob.iter().cloned().chain([name.clone()]).collect();
            let target = self.target(&at, &whole, depth + 1)?;
            self.files.get(&target)?.defines.contains(name).then_some(target)
        });
        Some(of_glob.unwrap_or(at))
    }

    /// Cycles: groups of files that use each other.
    pub(crate) fn circles(&self) -> Vec<Vec<&str>> {
        let reach: BTreeMap<&Module, BTreeSet<&Module>> =
            self.files.keys().map(|module| (module, self.reached(module))).collect();
        let mut circles: BTreeSet<Vec<&Module>> = BTreeSet::new();
        for (module, reached) in &reach {
            let both = reached
                .iter()
                .filter(|other| reach.get(*other).is_some_and(|r| r.contains(module)));
            let group: Vec<&Module> = both.copied().collect();
            if !group.is_empty() {
                circles.insert(group);
            }
        }
        let path = |module: &&Module| self.files.get(*module).map(|file| file.path.as_str());
        circles.iter().map(|group| group.iter().filter_map(path).collect()).collect()
    }

    /// Uses of a folder by a lower one.
    fn upward(&self, order: &[&str]) -> Vec<(&str, String)> {
        let level = |module: &Module| {
            order.iter().position(|folder| module.first().is_some_and(|m| m == folder))
        };
        let arrows =
            self.uses.iter().flat_map(|(from, uses)| uses.iter().map(move |to| (from, to)));
        let up = arrows.filter(|(from, to)| level(from).zip(level(to)).is_some_and(|(a, b)| a < b));
        up.filter_map(|(from, to)| Some((self.files.get(from)?.path.as_str(), shown(to)))).collect()
    }

    fn reached(&self, from: &Module) -> BTreeSet<&Module> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Module> = self.uses.get(from).into_iter().flatten().collect();
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(self.uses.get(next).into_iter().flatten());
            }
        }
        reached
    }

    /// One line per file, with its uses.
    fn lines(&self) -> impl Iterator<Item = String> {
        self.uses.iter().map(|(module, uses)| {
            let uses: Vec<String> = uses.iter().map(shown).collect();
            format!("  {} -> {}", shown(module), uses.join(" "))
        })
    }
}

fn child(of: &Module, name: &str) -> Module {
    of.iter().cloned().chain([name.to_owned()]).collect()
}

fn shown(module: &Module) -> String {
    if module.is_empty() { "(root)".to_owned() } else { module.join("::") }
}

/// The module of a file below `src/`.
fn module_of(file: &str) -> Module {
    let stem = file.trim_end_matches(".rs").trim_end_matches("/mod");
    match stem {
        "lib" | "main" => Module::new(),
        _ => stem.split('/').map(str::to_owned).collect(),
    }
}

/// `cargo xtask modules [CRATE..]`: the graph, and the number of its cycles.
pub(crate) fn run(root: &Path, names: &[&str]) -> anyhow::Result<()> {
    let tree = Tree::read(root)?;
    let crates = tree.crates();
    if let Some(unknown) = names.iter().find(|name| !crates.contains(name)) {
        anyhow::bail!("there is no crate {unknown}; there are {}", crates.join(", "));
    }
    let mut found = 0;
    for name in crates.iter().filter(|name| names.is_empty() || names.contains(name)) {
        let graph = Graph::of(&tree, name);
        let (arrows, circles) =
            (graph.uses.values().map(BTreeSet::len).sum::<usize>(), graph.circles());
        let files = graph.files.len();
        println!("{name}: {files} files, {arrows} arrows, {} circles", circles.len());
        if !names.is_empty() {
            graph.lines().for_each(|line| println!("{line}"));
        }
        for circle in &circles {
            println!("  circle of {}: {}", circle.len(), circle.join(" "));
        }
        found += circles.len();
    }
    anyhow::ensure!(found == 0, "{found} circles");
    Ok(())
}

/// The tidy check: no cycle in any crate, and no upward use.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in tree.crates() {
        let graph = Graph::of(tree, name);
        let order = ORDER.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, order)| order);
        for (file, to) in graph.upward(order) {
            let what = format!("it uses `{to}`, which stands above it: {}", order.join(" < "));
            findings.push(Finding::new(file, 1, what));
        }
        for circle in graph.circles() {
            let what = format!(
                "these files use each other, so that none can be read alone: {}; move what both need below them",
                circle.join(", ")
            );
            findings.push(Finding::new(circle[0], 1, what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let graph = Graph::of(&Tree::of(files), "a");
        graph
            .circles()
            .iter()
            .map(|one| one.iter().map(|path| (*path).to_owned()).collect())
            .collect()
    }

    #[test]
    fn files_that_use_each_other_are_a_circle() {
        let b = ("crates/a/src/b.rs", "use crate::c::C;");
        let c = ("crates/a/src/c.rs", "fn c() { crate::b::d(1) }");
        let root = ("crates/a/src/lib.rs", "mod b;\nmod c;");
        assert_eq!(circles(&[root, b, c]), [["crates/a/src/b.rs", "crates/a/src/c.rs"]]);
        let tests = ("crates/a/src/c.rs", "#[cfg(test)]\nmod tests {\n    use crate::b;\n}");
        assert!(circles(&[root, b, tests]).is_empty());
    }

    #[test]
    fn an_arrow_up_is_found() {
        let root = ("crates/engine/src/lib.rs", "mod state;\nmod stages;\npub use state::Run;");
        let state = ("crates/engine/src/state.rs", "pub struct Run;");
        let stages = ("crates/engine/src/stages.rs", "use crate::Run;");
        assert!(check(&Tree::of(&[root, state, stages])).is_empty());
        let up = ("crates/engine/src/state.rs", "fn run() { crate::stages::due() }");
        let found =
            check(&Tree::of(&[root, up, ("crates/engine/src/stages.rs", "pub fn due() {}")]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].what.contains("`stages`, which stands above it"), "{found:?}");
    }

    #[test]
    fn a_name_that_is_passed_on_leads_to_where_it_is_defined() {
        let root = ("crates/a/src/lib.rs", "mod b;\npub use b::{B, c::C};");
        let b = ("crates/a/src/b.rs", "mod c;\npub use c::D;\npub(crate) struct B;");
        let c = ("crates/a/src/b/c.rs", "use crate::B;\npub struct C;\npub struct D;");
        assert!(circles(&[root, b, c]).is_empty());
        let uses = ("crates/a/src/b.rs", "mod c;\nuse c::D;\npub struct B(D);");
        assert_eq!(circles(&[root, uses, c]).len(), 1);
    }
}
