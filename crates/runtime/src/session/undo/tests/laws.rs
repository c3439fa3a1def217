//! The promise of undo, on real files: in any order of calls, edits by the person, switches of the branch, undos and
//! undos of undos, nothing is lost that the session did not write; and without the person, everything comes back.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

/// A change to a path: writes a new content, or removes what is there.
#[derive(Debug, Clone)]
struct Edit {
    path: &'static str,
    write: bool,
}

#[derive(Debug, Clone)]
enum Step {
    /// A call of a file tool, and what the person does meanwhile.
    Tool(Edit, Option<Edit>),
    /// A command, and what the person does meanwhile.
    Command(Vec<Edit>, Option<Edit>),
    Person(Edit),
    /// The person checks out the other branch.
    Switch,
    Undo,
    /// Undoes everything after a line; with a path, also what something else has changed there.
    Rewind(Index, Option<&'static str>),
}

/// `d` is a file or a folder; `*.log` is ignored.
const PATHS: [&str; 7] = ["a", "b", "d", "d/a", "d/e/c", "x.log", "d/y.log"];
/// The files that differ between the branches.
const TRACKED: [&str; 3] = ["a", "b", "d/a"];

fn edit() -> impl Strategy<Value = Edit> {
    (select(&PATHS[..]), prop::bool::weighted(0.75)).prop_map(|(path, write)| Edit { path, write })
}

fn calls() -> impl Strategy<Value = Step> {
    let meanwhile = || prop::option::weighted(0.3, edit());
    prop_oneof![
        (edit(), meanwhile()).prop_map(|(own, person)| Step::Tool(own, person)),
        (prop::collection::vec(edit(), 1..4), meanwhile())
            .prop_map(|(own, person)| Step::Command(own, person)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let replace = prop::option::weighted(0.3, select(&["", "a", "d", "d/a"][..]));
    prop_oneof![
        5 => calls(),
        4 => edit().prop_map(Step::Person),
        1 => Just(Step::Switch),
        2 => Just(Step::Undo),
        2 => (any::<Index>(), replace).prop_map(|(line, path)| Step::Rewind(line, path)),
    ]
}

/// A session in a folder that a person uses, too.
struct World {
    place: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    store: UndoStore,
    changes: Changes,
    turn: u32,
    written: u32,
    /// The person's contents, and whether each was certainly not written during a command.
    persons: BTreeMap<&'static str, (String, bool)>,
    /// The tracked files of the branch that is not checked out, and of the person's contents, whether each was certainly
    /// not written during a command.
    other_branch: BTreeMap<&'static str, (String, Option<bool>)>,
}

impl World {
    fn new() -> Self {
        let place = tempfile::tempdir().expect("a folder");
        let work = place.path().join("work");
        std::fs::create_dir(&work).expect("a folder");
        std::fs::write(work.join(".gitignore"), "*.log\n").expect("a file");
        let snapshots = Snapshots::new(&work, &place.path().join("store")).expect("snapshots");
        let run = "r_00000001".parse().expect("an id");
        let aside = place.path().join("aside");
        let mut world = Self {
            runtime: tokio::runtime::Builder::new_current_thread().build().expect("a runtime"),
            store: UndoStore { snapshots: Arc::new(snapshots), run, aside },
            place,
            changes: Changes { end: 1, ..Changes::default() },
            turn: 0,
            written: 0,
            persons: BTreeMap::new(),
            other_branch: BTreeMap::new(),
        };
        for path in ["a", "d/a", "x.log"] {
            world.person(&Edit { path, write: true }, true);
        }
        world
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.place.path().join("work").join(path)).ok()
    }

    /// Writes a new content, also where a folder is or a file stands in the way of one; or removes what is there.
    fn put(&self, path: &str, content: Option<&str>) {
        let root = self.place.path().join("work");
        let file = root.join(path);
        let above = Path::new(path).ancestors().skip(1).map(|above| root.join(above));
        let in_the_way = above.filter(|above| content.is_some() && above.is_file());
        for old in in_the_way.chain([file.clone()]) {
            if old.is_dir() { sandbox::remove(&old) } else { std::fs::remove_file(old) }.ok();
        }
        if let Some(content) = content {
            std::fs::create_dir_all(file.parent().expect("a folder above")).expect("folders");
            std::fs::write(file, content).expect("a file");
        }
    }

    /// Forgets the person's contents that were just replaced by the person, or by a call of the session.
    fn forget_replaced(&mut self) {
        let persons = std::mem::take(&mut self.persons);
        let there = |path: &str, content: &String| self.read(path).as_ref() == Some(content);
        let kept = persons.into_iter().filter(|(path, (content, _))| there(path, content));
        self.persons = kept.collect();
    }

    fn edit(&mut self, edit: &Edit, by: &str) -> Option<String> {
        self.written += 1;
        let content = edit.write.then(|| format!("{by} {}", self.written));
        self.put(edit.path, content.as_deref());
        self.forget_replaced();
        content
    }

    fn person(&mut self, edit: &Edit, sure: bool) {
        if let Some(content) = self.edit(edit, "person") {
            self.persons.insert(edit.path, (content, sure));
        }
    }

    /// Makes and records a call of the session.
    fn call(&mut self, own: &[&Edit], named: bool, meanwhile: Option<&Edit>) {
        let files = named.then(|| own.iter().map(|edit| PathBuf::from(edit.path)).collect());
        let before = self.store.snapshots.before(None, files).expect("a snapshot");
        own.iter().for_each(|edit| drop(self.edit(edit, "session")));
        // The file of a tool is not told from an edit of the same file at the same moment.
        let apart = |edit: &&Edit| {
            let (edit, own) = (Path::new(edit.path), own.iter().map(|own| Path::new(own.path)));
            !named || own.into_iter().all(|own| !own.starts_with(edit) && !edit.starts_with(own))
        };
        if let Some(edit) = meanwhile.filter(apart) {
            self.person(edit, named);
        }
        let trees = self.store.snapshots.after(&before, None).expect("a snapshot");
        self.turn += 1;
        if let Some(trees) = trees {
            self.take(&changed(self.turn, trees));
        }
    }

    fn take(&mut self, event: &Event) {
        self.changes.end += 1;
        self.changes.take(self.changes.end, event);
    }

    /// Checks out the other branch. A content is as much the person's afterwards as it was when it was left: what an undo
    /// has put there, and the switch puts there again, still is as the session left it.
    fn switch(&mut self) {
        let here = TRACKED.into_iter().filter_map(|path| {
            let content = self.read(path)?;
            let persons = self.persons.get(path).filter(|(own, _)| *own == content);
            Some((path, (content.clone(), persons.map(|(_, sure)| *sure))))
        });
        let here: BTreeMap<_, _> = here.collect();
        let there = std::mem::replace(&mut self.other_branch, here);
        for path in TRACKED {
            let content = there.get(path).map(|(content, _)| content);
            if self.read(path).as_ref() != content {
                self.put(path, content.map(String::as_str));
            }
        }
        self.forget_replaced();
        for (path, (content, persons)) in there {
            if let (Some(sure), true) = (persons, self.read(path).as_ref() == Some(&content)) {
                self.persons.entry(path).or_insert((content, sure));
            }
        }
    }

    /// `None` if a path to be replaced is none of its own; then nothing is undone.
    fn undo(&mut self, wanted: Wanted) -> Option<Undone> {
        let done = self.runtime.block_on(self.store.undo(wanted, "ann"));
        if let Err(SessionError::NotAmongChanges { .. }) = done {
            return None;
        }
        let (undone, said) = done.expect("an undo");
        let Command::Restored { to, trees, .. } = said else { panic!("{said:?}") };
        self.take(&restored(to, trees));
        Some(undone)
    }

    /// After an undo, the person's contents are where they were; those that it was told to replace, and those that
    /// were written during a command, may be in the folder that it names instead.
    fn nothing_is_lost(&mut self, undone: &Undone, replace: Option<&str>) {
        for (path, (content, sure)) in std::mem::take(&mut self.persons) {
            if self.read(path).as_ref() == Some(&content) {
                self.persons.insert(path, (content, sure));
                continue;
            }
            let told = replace.is_some_and(|above| Path::new(path).starts_with(above));
            assert!(told || !sure, "{path} had {content:?}, and has {:?}", self.read(path));
            let kept_in = undone.restored.kept_in.as_ref().expect("a folder");
            let kept = std::fs::read_to_string(kept_in.join(path)).ok();
            assert_eq!(kept, Some(content), "the version of {path} is lost");
        }
    }

    fn act(&mut self, step: &Step) {
        match step {
            Step::Tool(own, person) => self.call(&[own], true, person.as_ref()),
            Step::Command(own, person) => {
                let own: Vec<&Edit> = own.iter().collect();
                self.call(&own, false, person.as_ref());
            }
            Step::Person(edit) => self.person(edit, true),
            Step::Switch => self.switch(),
            Step::Undo => {
                if let Some(wanted) = self.changes.last_round() {
                    let undone = self.undo(wanted).expect("it replaces nothing");
                    self.nothing_is_lost(&undone, None);
                }
            }
            Step::Rewind(line, replace) => {
                let to = line.index(usize::try_from(self.changes.end).expect("a line")) + 1;
                let paths = replace.map(PathBuf::from).into_iter().collect();
                if let Ok(wanted) = self.changes.after(to as u64, paths)
                    && let Some(undone) = self.undo(wanted)
                {
                    self.nothing_is_lost(&undone, *replace);
                }
            }
        }
    }

    /// Every file in the folder.
    fn picture(&self) -> BTreeMap<PathBuf, String> {
        let (mut all, mut folders) = (BTreeMap::new(), vec![self.place.path().join("work")]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                match std::fs::read_to_string(entry.path()) {
                    Ok(text) => drop(all.insert(entry.path(), text)),
                    Err(_) => folders.push(entry.path()),
                }
            }
        }
        all
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_byte_is_lost_that_the_session_did_not_write(steps in prop::collection::vec(step(), 1..32)) {
        let mut world = World::new();
        steps.iter().for_each(|step| world.act(step));
    }

    #[test]
    fn what_only_the_session_changed_comes_back_and_goes_forth(
        steps in prop::collection::vec(calls(), 1..12),
        lines in prop::collection::vec(any::<Index>(), 1..6),
    ) {
        let mut world = World::new();
        let mut pictures = vec![(world.changes.end, world.picture())];
        for step in steps {
            // A command's changes to ignored files are not on record; removing `d` is one.
            let seen = |edit: &&Edit| !edit.path.ends_with(".log") && edit.path != "d";
            match step {
                Step::Command(own, _) => {
                    let own: Vec<&Edit> = own.iter().filter(seen).collect();
                    world.call(&own, false, None);
                }
                Step::Tool(own, _) if own.path != "d" => world.call(&[&own], true, None),
                _ => {}
            }
            pictures.push((world.changes.end, world.picture()));
        }
        for line in lines {
            let (to, picture) = line.get(&pictures).clone();
            let Ok(wanted) = world.changes.after(to, vec![]) else { continue };
            let undone = world.undo(wanted).expect("it replaces nothing");
            prop_assert_eq!(&undone.restored.left_alone, &vec![]);
            prop_assert_eq!(&world.picture(), &picture);
            pictures.push((world.changes.end, picture));
        }
    }
}
