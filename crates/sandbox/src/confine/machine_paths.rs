//! Paths of the machine that every command may read, and those in them that hold keys. What a command sees beyond them is
//! in its orders.

/// Folders of the system that are there to be read.
pub(super) const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix"];

/// What of `/etc` programs need; passwords, keys and service settings are not among it.
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

/// Places in a home folder where people keep toolchains.
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

/// Files that hold keys, wherever a toolchain keeps them.
pub(super) const KEYS: [&str; 2] = ["credentials", "credentials.toml"];
