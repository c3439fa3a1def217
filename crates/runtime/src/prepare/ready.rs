//! How commands run in a prepared worktree: visible paths, read-only paths, variables. Adds nothing to it but links to
//! virtual environments.

use std::path::{Path, PathBuf};

use sandbox::{Bounds, Placing, Variables, venv};
use types::{Fault, WorkPath};

use super::place::broken;

/// How commands run in a prepared worktree.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ready {
    /// Read-only paths, and exceptions below them.
    pub(super) closed: Vec<WorkPath>,
    pub(super) reopened: Vec<WorkPath>,
    visible: Vec<PathBuf>,
    environments: Vec<PathBuf>,
    modules: Vec<PathBuf>,
}

impl Ready {
    /// Makes these paths outside the worktree visible to commands.
    pub(super) fn seeing(visible: Vec<PathBuf>) -> Self {
        Self { visible, ..Self::default() }
    }

    /// Commands in the person's own checkout use its virtual environments where they are.
    pub(super) fn in_checkout(root: &Path, environments: &[WorkPath]) -> Self {
        let environments = environments.iter().map(|path| root.join(path.as_str())).collect();
        Self { environments, ..Self::default() }
    }

    /// Adds a virtual environment in its original place, with links to it under its own name in the worktree.
    pub(super) fn environment(
        &mut self,
        from: &Path,
        checkout: &Path,
        (placing, seen_at): (&Placing, &Path),
        path: &WorkPath,
    ) -> Result<(), Fault> {
        if placing.is_free(path).map_err(|error| broken("reading", seen_at, &error))? {
            let made = placing.fresh().map_err(|error| broken("making", seen_at, &error))?;
            venv::mirror(from, &made).map_err(|error| broken("linking", from, &error))?;
            let placed = placing.place(&made, path);
            placed.map_err(|error| broken("placing", from, &error))?;
        }
        self.visible.push(from.to_owned());
        self.environments.push(from.to_owned());
        let own = venv::editable(from, checkout).into_iter();
        self.modules.extend(own.map(|path| seen_at.join(path)));
        Ok(())
    }

    /// The variables of commands here.
    pub(crate) fn variables(&self, variables: Variables) -> Variables {
        let bins = self.environments.iter().map(|folder| folder.join("bin")).collect();
        let variables = variables.first_in_path(bins).python_modules(self.modules.clone());
        match self.environments.first().and_then(|folder| folder.to_str()) {
            Some(first) => variables.setting("VIRTUAL_ENV", first),
            None => variables,
        }
    }

    /// Whether commands here see a path below this one.
    pub(crate) fn sees_below(&self, place: &Path) -> bool {
        self.visible.iter().any(|path| path.starts_with(place))
    }

    /// Adds the visible and read-only paths.
    pub(crate) fn bound(&self, bounds: &mut Bounds) {
        bounds.visible.extend(self.visible.iter().cloned());
        (bounds.closed, bounds.reopened) = (self.closed.clone(), self.reopened.clone());
    }

    /// Whether a path is read-only.
    pub(crate) fn closes(&self, path: &WorkPath) -> bool {
        self.closed.contains(path)
    }

    /// The exceptions below read-only paths.
    pub(crate) fn reopened(&self) -> &[WorkPath] {
        &self.reopened
    }
}
