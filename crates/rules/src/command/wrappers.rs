//! Wrappers: programs that start another program, and how to find it among their words. A table: one line per program.

/// A program that starts another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Short options that take a value.
    pub(super) short: &'static str,
    /// Long options that take a value as the next word.
    pub(super) long: &'static [&'static str],
    /// The number of words before the command.
    pub(super) skip: usize,
    pub(super) form: Form,
    /// It does more than start the other program, so rules must match it too.
    pub(super) judged: bool,
}

/// The form of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A program with its words.
    Words,
    /// The same, with variables before it.
    Environment,
    /// The same, with unknown words appended.
    Appends,
    /// A script, in all remaining words.
    Script,
    /// A script, as the value of `-c`; otherwise words.
    ScriptOrWords,
}

const fn words(name: &'static str, short: &'static str, long: &'static [&'static str]) -> Wrapper {
    Wrapper { name, short, long, skip: 0, form: Form::Words, judged: false }
}

const fn judged(name: &'static str, short: &'static str, skip: usize, form: Form) -> Wrapper {
    Wrapper { name, short, long: &[], skip, form, judged: true }
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper { form: Form::Environment, ..words("env", "uCa", &["--unset", "--chdir", "--argv0"]) },
    words("builtin", "", &[]),
    words("busybox", "", &[]),
    words("catchsegv", "", &[]),
    Wrapper { skip: 1, ..words("chrt", "TPD", &[]) },
    words("command", "", &[]),
    words("exec", "a", &[]),
    words("ionice", "cnpPu", &["--class", "--classdata"]),
    words("nice", "n", &["--adjustment"]),
    words("nohup", "", &[]),
    words("noglob", "", &[]),
    words("nocorrect", "", &[]),
    words("setsid", "", &[]),
    words("stdbuf", "ioe", &["--input", "--output", "--error"]),
    Wrapper { skip: 1, ..words("taskset", "", &[]) },
    Wrapper { judged: true, ..words("time", "fo", &["--format", "--output"]) },
    Wrapper { skip: 1, ..words("timeout", "ks", &["--kill-after", "--signal"]) },
    words("toybox", "", &[]),
    words("unbuffer", "", &[]),
    Wrapper {
        form: Form::Appends,
        ..words(
            "xargs",
            "aEIdLnPsi",
            &[
                "--arg-file",
                "--delimiter",
                "--max-args",
                "--max-procs",
                "--max-lines",
                "--max-chars",
                "--replace",
                "--eof",
                "--process-slot-var",
            ],
        )
    },
    judged("bwrap", "", 0, Form::Words),
    judged("capsh", "", 0, Form::Words),
    judged("chroot", "", 1, Form::Words),
    judged("chpst", "uUbemdofcrtP", 0, Form::Words),
    judged("doas", "uCa", 0, Form::Words),
    judged("entr", "", 0, Form::Appends),
    judged("fakeroot", "ls", 0, Form::Words),
    judged("firejail", "", 0, Form::Words),
    judged("flock", "wEc", 1, Form::ScriptOrWords),
    judged("gdb", "x", 0, Form::Words),
    judged("ltrace", "aAeosSulpnx", 0, Form::Words),
    judged("nsenter", "tSG", 0, Form::Words),
    judged("parallel", "jIaSdEnNLsX", 0, Form::Script),
    judged("pkexec", "", 0, Form::Words),
    judged("proot", "rbwkq", 0, Form::Words),
    judged("proxychains", "f", 0, Form::Words),
    judged("proxychains4", "f", 0, Form::Words),
    judged("runuser", "ugGcs", 0, Form::ScriptOrWords),
    judged("script", "cEoOIBTmt", 0, Form::ScriptOrWords),
    judged("setpriv", "", 0, Form::Words),
    judged("sg", "c", 1, Form::ScriptOrWords),
    judged("ssh", "bcDEeFIiJLlmOopQRSWw", 1, Form::Script),
    judged("strace", "abeoOpPSuUEXI", 0, Form::Words),
    judged("su", "cgGsw", 1, Form::ScriptOrWords),
    judged("sudo", "ughpCrtTUDR", 0, Form::Environment),
    judged("systemd-run", "HMptuES", 0, Form::Words),
    judged("torsocks", "", 0, Form::Words),
    judged("unshare", "SGRw", 0, Form::Words),
    judged("valgrind", "", 0, Form::Words),
    judged("watch", "n", 0, Form::Script),
    judged("winpty", "", 0, Form::Words),
];

/// The wrapper of this name. The dynamic loader has a name of its own on each architecture.
pub(super) fn wrapper(name: &str) -> Option<Wrapper> {
    let known = WRAPPERS.iter().find(|wrapper| wrapper.name == name).copied();
    let loader = || {
        (name.starts_with("ld-linux") || name == "ld.so")
            .then(|| judged("ld.so", "", 0, Form::Words))
    };
    known.or_else(loader)
}
