//! Restrictions behind the namespaces, in case one of those has a hole: resource limits, no capabilities, no new
//! privileges, Landlock for files, seccomp for the kernel's own surface.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use nix::sys::resource::{Resource, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

use super::error::{SetupError, doing};
use crate::bounds::Limits;

/// Requested Landlock ABI; older kernels enforce the part that they support.
const LANDLOCK: ABI = ABI::V6;

pub(super) fn raise(
    writable: &[PathBuf],
    limits: &Limits,
    filter: &Filter,
) -> Result<(), SetupError> {
    // First, since without capabilities a limit of the machine could not be raised.
    bound(limits)?;
    disarm()?;
    // Behind the namespaces, every visible file may be read.
    let fence = Fence { read: vec![PathBuf::from("/")], write: writable.to_vec() };
    enter(&fence, filter)
}

/// System calls that the kernel refuses, as compiled BPF programs.
#[derive(Debug)]
pub(super) struct Filter(Vec<BpfProgram>);

impl Filter {
    pub(super) fn compile() -> Result<Self, SetupError> {
        Self::of(programs(&FAMILIES))
    }

    /// For use without namespaces: no sockets at all, and no System V objects.
    pub(super) fn without_sockets() -> Result<Self, SetupError> {
        Self::of(programs(&[]))
    }

    fn of(programs: Result<Vec<BpfProgram>, seccompiler::Error>) -> Result<Self, SetupError> {
        Ok(Self(programs.map_err(|error| doing("preparing seccomp")(io::Error::other(error)))?))
    }

    fn install(&self) -> Result<(), SetupError> {
        let mut programs = self.0.iter();
        programs
            .try_for_each(|program| seccompiler::apply_filter(program))
            .map_err(|error| doing("raising seccomp")(io::Error::other(error)))
    }
}

fn bound(limits: &Limits) -> Result<(), SetupError> {
    let all = [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_NPROC, limits.processes),
        (Resource::RLIMIT_DATA, limits.memory_bytes),
        (Resource::RLIMIT_FSIZE, limits.file_bytes),
    ];
    for (resource, most) in all {
        setrlimit(resource, most, most).map_err(doing(format!("setting {resource:?}")))?;
    }
    Ok(())
}

/// Drops every capability, including those that executing a program as root would restore.
fn disarm() -> Result<(), SetupError> {
    for capability in CapabilitySet::all().iter() {
        // A capability that this kernel does not know cannot be held.
        rustix::thread::remove_capability_from_bounding_set(capability).ok();
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::clear_ambient_capability_set().map_err(doing("giving up capabilities"))?;
    rustix::thread::set_capabilities(None, sets).map_err(doing("giving up capabilities"))
}

/// Readable and writable paths. Access to all others is refused, as are signals and abstract sockets to the outside.
#[derive(Debug)]
pub(super) struct Fence {
    pub(super) read: Vec<PathBuf>,
    pub(super) write: Vec<PathBuf>,
}

impl Fence {
    fn raise(&self) -> Result<(), SetupError> {
        let failed = |error| doing("raising Landlock")(io::Error::other(error));
        match self.restrict().map_err(|error| failed(error.to_string()))? {
            RulesetStatus::NotEnforced => Err(failed("this kernel does not have it".to_owned())),
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        }
    }

    fn restrict(&self) -> Result<RulesetStatus, landlock::RulesetError> {
        let status = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .scope(Scope::AbstractUnixSocket | Scope::Signal)?
            .create()?
            .add_rules(path_beneath_rules(&self.read, AccessFs::from_read(LANDLOCK)))?
            .add_rules(path_beneath_rules(&self.write, AccessFs::from_all(LANDLOCK)))?
            .restrict_self()?;
        Ok(status.ruleset)
    }
}

/// Applies the restrictions that work without namespaces.
pub(super) fn fence_in(fence: &Fence, limits: &Limits, filter: &Filter) -> Result<(), SetupError> {
    bound(limits)?;
    enter(fence, filter)
}

fn enter(fence: &Fence, filter: &Filter) -> Result<(), SetupError> {
    nix::sys::prctl::set_no_new_privs().map_err(doing("renouncing privileges"))?;
    fence.raise()?;
    filter.install()
}

/// System calls that no build or test needs and that have been used for escapes.
const FORBIDDEN: [i64; 49] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_madvise,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_userfaultfd,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_chroot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_acct,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_syslog,
    libc::SYS_quotactl,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_fanotify_init,
    libc::SYS_mbind,
];

/// Flags of `clone` that create a namespace.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Permitted socket families. The network is empty, so they do no harm; tests that talk to themselves need them.
const FAMILIES: [i32; 3] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];

fn programs(families: &[i32]) -> Result<Vec<BpfProgram>, seccompiler::Error> {
    let condition = |argument, operator, value| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
    };
    let number = |value: i32| u64::from(value.cast_unsigned());
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        FORBIDDEN.into_iter().map(|call| (call, Vec::new())).collect();
    let spaces = NAMESPACES.into_iter().map(|bit| {
        SeccompRule::new(vec![condition(0, SeccompCmpOp::MaskedEq(number(bit)), number(bit))?])
    });
    rules.insert(libc::SYS_clone, spaces.collect::<Result<_, _>>()?);
    let others = |families: &[i32]| -> Result<Vec<SeccompRule>, seccompiler::Error> {
        let each = families.iter().map(|family| condition(0, SeccompCmpOp::Ne, number(*family)));
        let each: Vec<_> = each.collect::<Result<_, _>>()?;
        // A rule without conditions always matches.
        Ok(if each.is_empty() { vec![] } else { vec![SeccompRule::new(each)?] })
    };
    rules.insert(libc::SYS_socket, others(families)?);
    rules.insert(libc::SYS_socketpair, others(&FAMILIES)?);
    if families.is_empty() {
        // Without an IPC namespace, such objects would belong to the machine and outlive the command.
        rules.extend(
            [libc::SYS_shmget, libc::SYS_msgget, libc::SYS_semget].map(|call| (call, vec![])),
        );
    }
    let typing = [libc::TIOCSTI, libc::TIOCLINUX].into_iter().map(|request| {
        let request = u64::from(u32::try_from(request).unwrap_or(u32::MAX));
        SeccompRule::new(vec![condition(1, SeccompCmpOp::Eq, request)?])
    });
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<_, _>>()?);
    // Filters cannot see the flags of clone3; without it, programs fall back to clone.
    Ok(vec![
        one_numbering(),
        program(rules, libc::EPERM)?,
        program([(libc::SYS_clone3, Vec::new())].into(), libc::ENOSYS)?,
    ])
}

fn program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    errno: i32,
) -> Result<BpfProgram, seccompiler::Error> {
    let errno = SeccompAction::Errno(errno.cast_unsigned());
    let arch = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, errno, arch)?;
    Ok(filter.try_into()?)
}

/// The other programs each kill a process that makes calls of another architecture. This one refuses x32 calls, which
/// have the same architecture, differ by one bit in the number, and would pass under unlisted numbers.
fn one_numbering() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const IF_SET: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
    const ANSWER: u32 = libc::BPF_RET | libc::BPF_K;
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
    let step = |code: u32, jt, jf, k| sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt,
        jf,
        k,
    };
    vec![
        // The call number comes first in the data.
        step(LOAD, 0, 0, 0),
        step(IF_SET, 0, 1, X32),
        step(ANSWER, 0, 0, refuse),
        step(ANSWER, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}
