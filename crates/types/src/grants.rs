//! Permissions that a person grants beyond the rules of a policy: parts of commands by pattern, and hosts by name. Data
//! only; the scope of a grant is decided elsewhere, and no grant overrides a refusal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name for all package registries in a list of hosts.
pub const REGISTRIES: &str = "registries";

/// The download hosts of commonly used package managers.
pub const REGISTRY_HOSTS: [&str; 24] = [
    "crates.io",
    "index.crates.io",
    "static.crates.io",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "pypi.org",
    "files.pythonhosted.org",
    "proxy.golang.org",
    "sum.golang.org",
    "rubygems.org",
    "index.rubygems.org",
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "services.gradle.org",
    "api.nuget.org",
    "packagist.org",
    "repo.packagist.org",
    "hex.pm",
    "repo.hex.pm",
    "pub.dev",
    "jsr.io",
    "npm.jsr.io",
    "deno.land",
];

/// Permissions that a person gives while work goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grants {
    /// Patterns for parts of commands, as in the rules of a policy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Hosts: names, `*.` families, addresses, or `registries`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

impl Grants {
    /// Whether nothing is granted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.hosts.is_empty()
    }

    /// Adds the grants that are not present yet.
    pub fn add(&mut self, more: &Self) {
        add(&mut self.commands, &more.commands);
        add(&mut self.hosts, &more.hosts);
    }

    /// All grants in one line.
    #[must_use]
    pub fn says(&self) -> String {
        let commands = self.commands.iter().map(|pattern| format!("`{pattern}`"));
        commands.chain(self.hosts.iter().cloned()).collect::<Vec<_>>().join(", ")
    }
}

fn add(list: &mut Vec<String>, more: &[String]) {
    for text in more {
        if !list.contains(text) {
            list.push(text.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_kept_once_and_said_in_one_line() {
        let grant = |command: &str, host: &str| Grants {
            commands: vec![command.to_owned()],
            hosts: vec![host.to_owned()],
        };
        let mut all = Grants::default();
        assert!(all.is_empty());
        all.add(&grant("git commit", REGISTRIES));
        all.add(&grant("git commit", "example.org"));
        assert_eq!(all.says(), "`git commit`, registries, example.org");
    }
}
