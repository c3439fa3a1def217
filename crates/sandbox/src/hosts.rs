//! Allow-list of hosts, and the addresses at which they may be reached. Only granted names are reachable, and a granted
//! name is refused, too, if it resolves to this machine, to the network around it, or to a cloud's internal services.
//! Names are resolved once, and the address that was checked is the one to connect to.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use types::{REGISTRIES, REGISTRY_HOSTS};

/// The granted hosts. The default grants none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hosts {
    granted: Vec<Grant>,
    private: bool,
    pinned: BTreeMap<String, Vec<IpAddr>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Grant {
    Exactly(Host),
    /// Every subdomain of this name, but not the name itself.
    Below(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    Address(IpAddr),
}

/// Why a host list is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    #[error("{host:?} would grant every host; name those that are needed")]
    Everything { host: String },
    #[error(
        "{host:?} is not a host; write `example.org`, `*.example.org` or an address, without scheme and port"
    )]
    NotAHost { host: String },
}

/// Why a host cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum HostRefused {
    #[error("{host} is not among the hosts that the policy grants")]
    NotGranted { host: String },
    #[error("{host} leads to {address}, which is not a public address")]
    NotPublic { host: String, address: IpAddr },
    #[error("{host} has no address")]
    NoAddress { host: String },
    #[error("looking up {host}")]
    Lookup {
        host: String,
        #[source]
        source: io::Error,
    },
}

impl Hosts {
    /// Parses a list of names (`example.org`), wildcards (`*.example.org`) and addresses.
    pub fn parse<T: AsRef<str>>(list: impl IntoIterator<Item = T>) -> Result<Self, BadHost> {
        Self::default().with(list)
    }

    /// Adds hosts. `registries` stands for the package registries.
    pub fn with<T: AsRef<str>>(
        mut self,
        list: impl IntoIterator<Item = T>,
    ) -> Result<Self, BadHost> {
        for host in list {
            match host.as_ref() {
                REGISTRIES => {
                    let names = REGISTRY_HOSTS.iter().map(|name| Host::Name((*name).to_owned()));
                    self.granted.extend(names.map(Grant::Exactly));
                }
                host => self.granted.push(grant(host)?),
            }
        }
        Ok(self)
    }

    /// Lets granted names resolve to this machine and to private networks. A cloud's internal services stay closed.
    #[must_use]
    pub fn allow_private(mut self) -> Self {
        self.private = true;
        self
    }

    /// Pins a name to an address instead of looking it up. The address is checked like any other.
    #[must_use]
    pub fn resolve(mut self, name: &str, address: IpAddr) -> Self {
        if let Some(Host::Name(name)) = host(name) {
            self.pinned.entry(name).or_default().push(address);
        }
        self
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.granted.is_empty()
    }

    /// Whether this host was granted. Names must match in full, ignoring case.
    #[must_use]
    pub fn permits(&self, name: &str) -> bool {
        let Some(asked) = host(name) else { return false };
        self.granted.iter().any(|grant| match (grant, &asked) {
            (Grant::Exactly(host), asked) => host == asked,
            (Grant::Below(domain), Host::Name(asked)) => asked
                .strip_suffix(domain.as_str())
                .and_then(|rest| rest.strip_suffix('.'))
                .is_some_and(|rest| !rest.is_empty()),
            (Grant::Below(_), Host::Address(_)) => false,
        })
    }

    /// Whether this address may be connected to.
    #[must_use]
    pub fn safe_address(&self, address: IpAddr) -> bool {
        match reach(address) {
            Reach::Public => true,
            Reach::Private => self.private,
            Reach::Special => false,
        }
    }

    /// Addresses at which a granted host may be reached. Connect to these, not to the name.
    pub async fn addresses(&self, name: &str, port: u16) -> Result<Vec<SocketAddr>, HostRefused> {
        let shown = || name.chars().take(253).collect::<String>();
        let Some(asked) = host(name).filter(|_| self.permits(name)) else {
            return Err(HostRefused::NotGranted { host: shown() });
        };
        let found = match asked {
            Host::Address(address) => vec![address],
            Host::Name(name) => match self.pinned.get(&name) {
                Some(pinned) => pinned.clone(),
                // The trailing dot keeps the resolver from trying the name below search domains.
                None => tokio::net::lookup_host((format!("{name}."), port))
                    .await
                    .map_err(|source| HostRefused::Lookup { host: shown(), source })?
                    .map(|address| address.ip())
                    .collect(),
            },
        };
        // One bad address among good ones is an attack: which of them is used would be up to chance.
        if let Some(address) = found.iter().find(|address| !self.safe_address(**address)) {
            return Err(HostRefused::NotPublic { host: shown(), address: *address });
        }
        if found.is_empty() {
            return Err(HostRefused::NoAddress { host: shown() });
        }
        Ok(found.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }
}

fn grant(text: &str) -> Result<Grant, BadHost> {
    let bad = || BadHost::NotAHost { host: text.to_owned() };
    if let Some(domain) = text.strip_prefix("*.") {
        return match host(domain) {
            Some(Host::Name(domain)) if domain.contains('.') => Ok(Grant::Below(domain)),
            Some(Host::Name(_)) => Err(BadHost::Everything { host: text.to_owned() }),
            _ => Err(bad()),
        };
    }
    if text.trim().trim_matches('.') == "*" {
        return Err(BadHost::Everything { host: text.to_owned() });
    }
    host(text).map(Grant::Exactly).ok_or_else(bad)
}

/// Normalizes a host for comparison: lower case, no trailing dot, plain ASCII. Spellings that other programs might
/// parse as an address (`127.1`, `0x7f.0.0.1`, `2130706433`) are rejected.
fn host(text: &str) -> Option<Host> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if let Ok(address) = bare.unwrap_or(text).parse::<IpAddr>() {
        return Some(Host::Address(address.to_canonical()));
    }
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let label = |label: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        matches!(label.len(), 1..=63) && !label.starts_with('-') && label.bytes().all(allowed)
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    let number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    (name.len() <= 253 && !number && name.split('.').all(label)).then_some(Host::Name(name))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Public,
    /// This machine, or a private network.
    Private,
    /// Never a legitimate target: link-local (where clouds serve credentials), multicast, reserved.
    Special,
}

fn reach(address: IpAddr) -> Reach {
    match address.to_canonical() {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    let [a, b, c, _] = address.octets();
    if address.is_loopback() || address.is_private() {
        return Reach::Private;
    }
    let special = matches!(
        (a, b, c),
        (0 | 224.., ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    if special { Reach::Special } else { Reach::Public }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    if address.is_loopback() || address.is_unique_local() {
        // One cloud serves credentials at a unique local address.
        let keys = address.segments()[..2] == [0xfd00, 0x0ec2];
        return if keys { Reach::Special } else { Reach::Private };
    }
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        // Translation is never a legitimate way to a private address.
        match reach_v4(Ipv4Addr::new(a, b, c, d)) {
            Reach::Public => Reach::Public,
            Reach::Private | Reach::Special => Reach::Special,
        }
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            embedded(high, low)
        }
        [0x2002, high, low, ..] => embedded(high, low),
        [0x2001, 0 | 0x0db8, ..] | [0x64, 0xff9b, ..] | [0x100, 0, 0, 0, ..] => Reach::Special,
        // Anything but global unicast is link-local, site-local, multicast or unassigned.
        [first, ..] if first & 0xe000 != 0x2000 => Reach::Special,
        _ => Reach::Public,
    }
}

#[cfg(test)]
mod tests;
