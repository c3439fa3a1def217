//! Paths of the machine that every command may read, and the files in them that contain keys. Further visible paths are
//! part of a command's spec.

/// Readable system folders.
pub(super) const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix"];

/// Entries of `/etc` that programs need; no passwords, keys or service settings.
pub(super) const SETTINGS: [&str; 27] = [
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "debian_version",
    "fonts",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "java",
    "java-17-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "locale.alias",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki",
    "protocols",
    "services",
    "ssl",
    "timezone",
];

/// Common locations of toolchains in a home folder.
pub(super) const TOOLCHAINS: [&str; 19] = [
    ".cargo",
    ".rustup",
    ".pyenv",
    ".nvm",
    ".volta",
    ".asdf",
    ".sdkman",
    ".deno",
    ".bun",
    ".local/bin",
    ".local/lib",
    ".local/share/uv",
    ".npm-global",
    "go",
    "sdk",
    ".m2/repository",
    ".rbenv",
    ".ghcup",
    ".local/share/mise",
];

/// Files with keys, in any toolchain folder.
pub(super) const KEYS: [&str; 2] = ["credentials", "credentials.toml"];
