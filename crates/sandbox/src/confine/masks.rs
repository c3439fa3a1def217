//! Masks over paths that commands must not see: an empty file over a file, an empty read-only folder over a folder. The
//! callers decide which paths to mask.

use std::os::fd::OwnedFd;
use std::path::Path;

use nix::mount::{MsFlags, mount};
use rustix::fs::FileType;

use super::error::{SetupError, doing};
use super::mount::{beneath, bind, by_number};
use super::spec::Spec;

/// Pins folders of the workspace in place, and masks its hidden paths.
pub(super) fn hide(spec: &Spec, workspace: &OwnedFd) -> Result<(), SetupError> {
    for path in &spec.pinned {
        let Ok(place) = beneath(workspace, path.as_str()) else { continue };
        let place = by_number(&place);
        bind(&place, &place).map_err(doing(format!("holding {path} in its place")))?;
    }
    for path in &spec.hidden {
        // A path that no longer exists needs no mask.
        let Ok(place) = beneath(workspace, path.as_str()) else { continue };
        let what = || format!("hiding {path}");
        let found = rustix::fs::fstat(&place).map_err(doing(what()))?;
        let folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        cover(&by_number(&place), folder).map_err(doing(what()))?;
    }
    Ok(())
}

/// Masks a path of the machine, if it exists.
pub(super) fn mask(path: &Path) -> Result<(), SetupError> {
    if !path.is_file() && !path.is_dir() {
        return Ok(());
    }
    cover(path, path.is_dir()).map_err(doing(format!("hiding {}", path.display())))
}

fn cover(at: &Path, folder: bool) -> nix::Result<()> {
    if !folder {
        return bind(Path::new("/dev/null"), at);
    }
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC | MsFlags::MS_RDONLY;
    mount(Some("tmpfs"), at, Some("tmpfs"), flags, Some("mode=555,size=4k"))
}
