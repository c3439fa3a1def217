//! The traced side: this program re-executed, which asks to be traced and stopped at disk operations, and then becomes
//! the program under test. `tracer.rs` does the tracing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, bail};
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// System calls that always stop.
const STOPS: [libc::c_long; 28] = [
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_rmdir,
    libc::SYS_creat,
    libc::SYS_openat2,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_sync,
    libc::SYS_syncfs,
];

/// Becomes the program; returns only on failure.
pub(super) fn become_traced(words: &[&str]) -> anyhow::Result<()> {
    let Some((program, rest)) = words.split_first() else { bail!("nothing to run") };
    let filter = filter()?;
    ptrace::traceme().context("asking to be traced")?;
    // The tracer sets its options here, before anything can stop at the filter.
    raise(Signal::SIGSTOP).context("waiting for the tracer")?;
    seccompiler::apply_filter(&filter).context("setting the filter")?;
    let error = Command::new(OsStr::new(program)).args(rest).exec();
    Err(error).with_context(|| format!("starting {program}"))
}

fn filter() -> anyhow::Result<BpfProgram> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        STOPS.iter().map(|number| (*number, vec![])).collect();
    // An open stops only if it may create or truncate a file.
    for (number, argument) in [(libc::SYS_open, 1), (libc::SYS_openat, 2)] {
        let mut either = vec![];
        for flag in [libc::O_CREAT, libc::O_TRUNC] {
            let flag = u64::try_from(flag).context("a flag")?;
            let is_set = SeccompCmpOp::MaskedEq(flag);
            let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, is_set, flag)?;
            either.push(SeccompRule::new(vec![condition])?);
        }
        rules.insert(number, either);
    }
    let (otherwise, matched) = (SeccompAction::Allow, SeccompAction::Trace(0));
    let filter = SeccompFilter::new(rules, otherwise, matched, TargetArch::x86_64)?;
    filter.try_into().context("building the filter")
}
