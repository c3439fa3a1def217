//! Random file operations of an agent, and between them every operation of Bosun on the same tree. Nothing outside of
//! the tree may change, and nothing of it may get in, whatever the agent does. Hard links to files outside are left
//! out: the sandbox keeps commands from making them.
//!
//! A number of sequences other than the usual one is set with `BOSUN_SEQUENCES` (with `cargo test`, which has no limit on
//! time); a world that fails is named by its number, from which it can be played again with `BOSUN_WORLD`.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use types::{Digest, WorkPath};

use super::ready::with_submodules_and;
use super::*;
use crate::{
    Environment as _, GlobRequest, LocalEnvironment, Most, Placing, Snapshots, bring,
    changed_since, hand_out,
};

/// Sequences in one world, which has one repository.
const IN_A_WORLD: u64 = 100;
/// Sequences of an ordinary run of the tests.
const USUAL: u64 = 100;
const SECRET: &str = "canary: nothing of this may be seen or changed";
const NAMES: [&str; 15] = [
    "a",
    "A",
    "b.bin",
    "libs",
    "libs/lib",
    "libs/lib/vendor",
    "libs/lib/vendor/inner",
    "LIBS",
    "node_modules",
    "node_modules/dep",
    ".git",
    ".bosun-staging-workspace",
    "out/deep/file",
    ".gitignore",
    "libs/.git",
];
const MOST: Most = Most { bytes: 1 << 20, files: 10_000 };

/// A generator of numbers (xorshift); one number repeats a world.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("small") % sides
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

struct World {
    made: Fixture,
    tree: PathBuf,
    outside: PathBuf,
    submodules: Vec<Submodule>,
    /// A prepared state and a build's output, which no agent has.
    state: PathBuf,
    before: Vec<String>,
}

impl World {
    async fn new() -> Self {
        let digest = Digest::of(b"photo");
        let pointer =
            format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 5\n");
        let files = [("b.bin", pointer.as_str()), (".gitignore", "node_modules/\nout/\n")];
        let made = with_submodules_and(&files).await;
        let name = digest.to_string();
        let object = format!("lfs/objects/{}/{}/{name}", &name[..2], &name[2..4]);
        put(made.repo.common_dir(), &object, "photo");
        let (outside, state) = (made.dir.path().join("outside"), made.dir.path().join("state"));
        let like = ["canary", "lib.txt", "b.bin", "lib/lib.txt", "vendor/inner/deep.txt", "file"];
        for name in like {
            put(&outside, name, SECRET);
        }
        fs::create_dir(outside.join("empty")).expect("a folder");
        put(&state, "node_modules/dep/index.js", "prepared");
        put(&state, "out/deep/file", "built");
        let tree = made.worktree("t").await;
        let submodules = made.repo.submodules(&made.start).await.expect("submodules");
        let before = [&outside, &state].iter().flat_map(|folder| picture(folder)).collect();
        Self { made, tree, outside, submodules, state, before }
    }

    /// Where links of an agent's lead to.
    fn targets(&self) -> [PathBuf; 9] {
        [
            self.outside.clone(),
            self.outside.join("canary"),
            self.outside.join("new"),
            self.outside.join("empty"),
            self.state.join("node_modules"),
            PathBuf::from("../../outside"),
            PathBuf::from("../../../outside/lib"),
            PathBuf::from("a"),
            PathBuf::from("."),
        ]
    }

    /// One operation of an agent's. Those that do not work have no effect.
    fn agent(&self, dice: &mut Dice) {
        let (one, other) = (self.tree.join(dice.one(&NAMES)), self.tree.join(dice.one(&NAMES)));
        let targets = self.targets();
        let clear = |path: &Path| {
            let folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
            let path = path.to_owned();
            if folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }.ok();
        };
        // An agent writes in its tree alone, as the sandbox sees to it.
        let inside = |path: &Path| {
            let above = path.parent().and_then(|above| above.canonicalize().ok());
            above.is_some_and(|above| above.starts_with(&self.tree))
        };
        if !inside(&one) || !inside(&other) {
            clear(&self.tree.join("libs"));
            return;
        }
        match dice.below(11) {
            0 | 1 => {
                clear(&one);
                symlink(&targets[dice.below(targets.len())], &one).ok();
            }
            2 => drop(fs::rename(&one, &other)),
            3 => {
                // What was there is kept beside a link in its place.
                fs::rename(&one, one.with_extension("moved")).ok();
                symlink(&targets[dice.below(targets.len())], &one).ok();
            }
            4 => drop(fs::hard_link(&one, &other)),
            5 => clear(&one),
            6 => drop(fs::create_dir_all(&one)),
            7 => {
                clear(&one);
                fs::write(&one, "an agent's").ok();
            }
            8 => {
                clear(&one);
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                let kind = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, &one, kind, mode, 0).ok();
            }
            9 if !one.is_symlink() => {
                let mode = fs::Permissions::from_mode(dice.one(&[0, 0o111, 0o500, 0o555, 0o777]));
                fs::set_permissions(&one, mode).ok();
            }
            _ => {
                let upper = one.file_name().map(|name| name.to_ascii_uppercase());
                upper.map(|name| fs::rename(&one, one.with_file_name(name)).ok());
            }
        }
    }

    /// One operation of Bosun's. It may fail, but not outside of the tree.
    async fn bosun(&self, dice: &mut Dice) {
        let (repo, tree) = (&self.made.repo, self.tree.as_path());
        // Each call of git takes longer than everything else together.
        if dice.below(8) == 0 {
            return self.with_git(dice).await;
        }
        let path: WorkPath = dice.one(&NAMES).parse().expect("a path");
        match dice.below(9) {
            0 => drop(repo.fill_submodules(tree, &[]).await),
            1 => {
                let Ok(placing) = Placing::into(tree) else { return };
                let Ok(made) = placing.fresh() else { return };
                let from = Path::new("node_modules");
                bring(&self.state, from, &made, MOST, &|_| false).expect("a copy");
                placing.place(&made, &path).ok();
            }
            2 => {
                let to = self.made.dir.path().join("brought");
                if bring(tree, Path::new(path.as_str()), &to, MOST, &|_| false).is_ok() {
                    assert!(!holds_secret(&to), "{path} brought a canary along");
                }
                crate::remove(&to).expect("removed");
            }
            3 => {
                let to = self.made.dir.path().join("taken");
                fs::create_dir(&to).expect("a folder");
                Placing::into(&to).expect("a tree").take(tree, &path).ok();
                assert!(!holds_secret(&to), "{path} took a canary along");
                crate::remove(&to).expect("removed");
            }
            4 => {
                let entries = ["node_modules", "out"].map(|name| name.parse().expect("a path"));
                hand_out(&self.state, &entries, tree, MOST).ok();
            }
            5 => drop(crate::remove(&tree.join(dice.one(&["a", "libs", "out", "node_modules"])))),
            6 => drop(changed_since(tree, &[path], AT)),
            7 => self.with_tools(dice, &path).await,
            _ => self.with_snapshots(),
        }
        // What an operation of Bosun's leaves closed, or an agent, would stop all others.
        if fs::metadata(tree).is_ok_and(|found| found.mode() & 0o700 != 0o700) {
            fs::set_permissions(tree, fs::Permissions::from_mode(0o755)).ok();
        }
    }

    async fn with_tools(&self, dice: &mut Dice, path: &WorkPath) {
        let Ok(env) = LocalEnvironment::open(&self.tree) else { return };
        let other: WorkPath = dice.one(&NAMES).parse().expect("a path");
        match dice.below(5) {
            0 => drop(env.write(path, b"written").await),
            1 => drop(env.delete(path).await),
            2 => drop(env.rename(path, &other).await),
            3 => {
                let read = env.read(path).await.unwrap_or_default();
                assert!(!String::from_utf8_lossy(&read).contains(SECRET), "{path} shows a canary");
            }
            _ => {
                let request =
                    GlobRequest { pattern: "**/*".to_owned(), path: path.clone(), max: 1_000 };
                let stop = tokio_util::sync::CancellationToken::new();
                let Ok(found) = env.glob(request, &stop).await else { return };
                assert!(!found.items.iter().any(|one| one.as_str().contains("canary")));
            }
        }
    }

    fn with_snapshots(&self) {
        let store = self.made.dir.path().join("store");
        let Ok(snapshots) = Snapshots::new(&self.tree, &store) else { return };
        let Ok(first) = snapshots.take() else { return };
        snapshots.lay_out(&first.digest).ok();
    }

    async fn with_git(&self, dice: &mut Dice) {
        let (repo, tree, start) = (&self.made.repo, self.tree.as_path(), &self.made.start);
        match dice.below(9) {
            0 | 1 => drop(repo.fill_submodules(tree, &self.submodules).await),
            2 => drop(repo.fill_lfs(tree, start, start).await),
            3 => drop(repo.status(tree).await),
            4 => drop(repo.reset(tree, start).await),
            5 => drop(repo.ignored_since(tree, AT).await),
            6 => {
                if let Ok(sealed) = repo.seal(tree, start, "work", AT).await {
                    let text =
                        git(repo.root(), &["ls-tree", "-r", "--name-only", &sealed.commit.0]);
                    assert!(!text.contains("canary"), "{text}");
                }
            }
            7 => drop(repo.make_older(tree, start, start).await),
            _ => {
                repo.remove_worktree(tree).await.expect("a worktree can always be removed");
                self.made.worktree("t").await;
            }
        }
    }
}

/// Everything about a folder that may not change.
fn picture(folder: &Path) -> Vec<String> {
    let (mut open, mut facts) = (vec![folder.to_owned()], Vec::new());
    while let Some(path) = open.pop() {
        let found = fs::symlink_metadata(&path).expect("it is there");
        let text = if found.is_file() {
            fs::read_to_string(&path).expect("a text")
        } else {
            String::new()
        };
        let times = (found.mtime(), found.mtime_nsec());
        facts.push(format!(
            "{path:?} {:o} {} {} {times:?} {text}",
            found.mode(),
            found.ino(),
            found.nlink()
        ));
        if found.is_dir() {
            open.extend(fs::read_dir(&path).expect("a folder").flatten().map(|one| one.path()));
        }
    }
    facts.sort();
    facts
}

fn holds_secret(top: &Path) -> bool {
    let mut open = vec![top.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if found.is_file() && fs::read_to_string(&path).is_ok_and(|text| text.contains(SECRET)) {
            return true;
        }
        if found.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|one| one.path()));
        }
    }
    false
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

async fn play() {
    let worlds = number("BOSUN_SEQUENCES").unwrap_or(USUAL).div_ceil(IN_A_WORLD);
    let worlds = number("BOSUN_WORLD").map_or(0..worlds, |one| one..one + 1);
    for seed in worlds {
        let (world, mut dice) = (World::new().await, Dice::new(seed));
        for sequence in 0..IN_A_WORLD {
            for _ in 0..=dice.below(6) {
                world.agent(&mut dice);
            }
            world.bosun(&mut dice).await;
            let after: Vec<String> =
                [&world.outside, &world.state].iter().flat_map(|folder| picture(folder)).collect();
            assert_eq!(after, world.before, "world {seed}, sequence {sequence}");
        }
    }
}

#[tokio::test]
async fn nothing_outside_of_a_tree_is_touched_whatever_an_agent_does_in_it() {
    play().await;
}

/// Who may not open closed folders takes other ways through the code.
#[tokio::test]
async fn the_same_holds_for_an_ordinary_user() {
    crate::user::as_ordinary_user();
    play().await;
}
