//! The network that background processes share with later commands: the namespace of the first of them, kept alive by
//! its descriptor for as long as the workspace is used. It is as empty as any other: loopback only.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, OnceLock};

use super::network::PROXY_PORT;

/// Number of ports used in turn for the proxies of concurrent commands.
const PORTS: u16 = 1_000;

/// The shared network of a workspace, once it exists.
#[derive(Debug, Default)]
pub(super) struct SharedNetwork {
    namespace: OnceLock<Arc<OwnedFd>>,
    commands: AtomicU16,
}

impl SharedNetwork {
    pub(super) fn is_there(&self) -> bool {
        self.namespace.get().is_some()
    }

    pub(super) fn namespace(&self) -> Option<Arc<OwnedFd>> {
        self.namespace.get().cloned()
    }

    /// Keeps a namespace for later commands. Only the first one is kept.
    pub(super) fn keep(&self, namespace: OwnedFd) {
        self.namespace.get_or_init(|| Arc::new(namespace));
    }

    /// A port for the proxy of another command: several may run in the same network.
    pub(super) fn next_port(&self) -> u16 {
        PROXY_PORT + 1 + self.commands.fetch_add(1, Ordering::Relaxed) % PORTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_port_of_its_own() {
        let shared = SharedNetwork::default();
        assert!(!shared.is_there());
        let ports: std::collections::BTreeSet<u16> =
            (0..PORTS).map(|_| shared.next_port()).collect();
        assert_eq!(ports.len(), usize::from(PORTS));
        assert!(!ports.contains(&PROXY_PORT));
    }
}
