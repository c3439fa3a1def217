//! `NAME=value`: which words are assignments, and which variables make programs load or run something else.

use super::source::is_name;
use super::word::Atom;

/// Variables by which programs are told to load or run something, or where to find what they run. A `*` at the end
/// stands for the rest of the name.
const TELLING: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "BASH_FUNC_*",
    "BASH_LOADABLES_PATH",
    "BROWSER",
    "CARGO_*",
    "CC",
    "CDPATH",
    "CLASSPATH",
    "CURL_HOME",
    "CXX",
    "DOCKER_*",
    "DYLD_*",
    "EDITOR",
    "ENV",
    "FCEDIT",
    "FPATH",
    "GCONV_PATH",
    "GEM_*",
    "GIT_*",
    "GLIBC_TUNABLES",
    "GOFLAGS",
    "GREP_OPTIONS",
    "GZIP",
    "HOME",
    "HOSTALIASES",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LD_*",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCPATH",
    "LUA_*",
    "MAKEFLAGS",
    "MAKEFILES",
    "MALLOC_*",
    "MANPAGER",
    "NLSPATH",
    "NODE_*",
    "NPM_CONFIG_*",
    "OPENSSL_*",
    "PAGER",
    "PATH",
    "PERL*",
    "PIP_*",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS4",
    "PYTHON*",
    "RES_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "RUBY*",
    "RUSTC*",
    "RUSTDOC*",
    "RUSTFLAGS",
    "SHELL",
    "SHELLOPTS",
    "SSH_*",
    "SUDO_*",
    "SYSTEMD_*",
    "TAPE",
    "TAR_OPTIONS",
    "TERMINFO*",
    "VISUAL",
    "WGETRC",
    "XDG_*",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
    "npm_config_*",
];

/// Whether setting this variable may make a program run something else.
pub(super) fn is_telling(name: &str) -> bool {
    TELLING.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    })
}

/// The name, whether there is a subscript that has to be evaluated, and the value; if it is an assignment.
pub(super) fn split(atoms: &[Atom]) -> Option<(String, bool, &[Atom])> {
    let equals = atoms.iter().position(|atom| atom.is_bare('='))?;
    let (before, value) = (&atoms[..equals], &atoms[equals + 1..]);
    let before = match before.split_last() {
        Some((last, before)) if last.is_bare('+') => before,
        _ => before,
    };
    let open = before.iter().position(|atom| atom.is_bare('['));
    let name = &before[..open.unwrap_or(before.len())];
    let name: Option<String> = name
        .iter()
        .map(|atom| match atom {
            Atom::Char { c, quoted: false } => Some(*c),
            _ => None,
        })
        .collect();
    let name = name.filter(|name| is_name(name))?;
    let Some(open) = open else { return Some((name, false, value)) };
    let (subscript, last) =
        before.get(open + 1..)?.split_last().map(|(last, rest)| (rest, last))?;
    let number = |atom: &Atom| matches!(atom, Atom::Char { c, .. } if c.is_ascii_digit());
    last.is_bare(']').then(|| (name, !subscript.iter().all(number), value))
}
