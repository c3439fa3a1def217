//! Open connections: how many there may be, and which one gives way to a new one. Descriptors are shared with the runs
//! that this process drives, so connections never get all of them. A connection is a stranger until a request on it is
//! authenticated; at the limit, the oldest stranger of the address with the most strangers is closed. So no number of
//! half-sent requests keeps a logged-in user out. It reads and writes nothing itself.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runtime::sandbox::raise_descriptors;
use tokio_util::sync::CancellationToken;

/// Maximum number of connections, however many descriptors there are.
const MOST: u64 = 8_192;
/// Number of descriptors that are enough for connections and runs.
const ENOUGH: u64 = 4 * MOST;

/// Raises the limit of descriptors of this process as far as is useful, and returns how many connections leave at least
/// half of them to the runs.
#[must_use]
pub fn most_connections() -> usize {
    let descriptors = raise_descriptors(ENOUGH);
    usize::try_from((descriptors / 2).clamp(1, MOST)).unwrap_or(usize::MAX)
}

/// All connections of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// Number of the last connection.
    last: u64,
    count: usize,
    /// Connections without an authenticated request, by number.
    strangers: BTreeMap<u64, Stranger>,
}

#[derive(Debug)]
struct Stranger {
    from: IpAddr,
    close: CancellationToken,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// Counts a new connection until the returned guard is dropped. Returns `None` if there are too many, and all of
    /// them belong to users.
    pub(crate) fn open(self: &Arc<Self>, from: IpAddr) -> Option<Connection> {
        let mut open = self.lock();
        if open.count >= self.most {
            let number = open.crowd()?;
            open.close(number);
        }
        open.last += 1;
        open.count += 1;
        let (number, close) = (open.last, CancellationToken::new());
        open.strangers.insert(number, Stranger { from, close: close.clone() });
        Some(Connection { all: self.clone(), number, closed: close })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// The oldest stranger of the address that has the most.
    fn crowd(&self) -> Option<u64> {
        let mut by_address: HashMap<IpAddr, (usize, u64)> = HashMap::new();
        for (number, stranger) in &self.strangers {
            by_address.entry(stranger.from).or_insert((0, *number)).0 += 1;
        }
        let most =
            by_address.into_values().max_by_key(|(count, oldest)| (*count, u64::MAX - oldest));
        most.map(|(_, oldest)| oldest)
    }

    fn close(&mut self, number: u64) {
        if let Some(stranger) = self.strangers.remove(&number) {
            stranger.close.cancel();
            self.count -= 1;
        }
    }
}

/// Guard of one open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    all: Arc<Connections>,
    number: u64,
    closed: CancellationToken,
}

impl Connection {
    /// A request on it was authenticated.
    pub(crate) fn admit(&self) {
        self.all.lock().strangers.remove(&self.number);
    }

    /// Cancelled when this connection has to give way.
    pub(crate) fn closed(&self) -> CancellationToken {
        self.closed.clone()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = self.all.lock();
        open.strangers.remove(&self.number);
        // One that gave way is no longer counted.
        if !self.closed.is_cancelled() {
            open.count -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// A flood from one address closes its own connections, never those of users or of other addresses.
    #[test]
    fn the_oldest_stranger_of_the_busiest_address_gives_way() {
        let all = Connections::new(4);
        let user = all.open(address(1)).expect("room");
        user.admit();
        let other = all.open(address(2)).expect("room");
        let first = all.open(address(3)).expect("room");
        let second = all.open(address(3)).expect("room");
        let third = all.open(address(3)).expect("the first gives way");
        assert!(first.closed().is_cancelled() && !second.closed().is_cancelled());
        drop(first);
        let fourth = all.open(address(4)).expect("the second gives way");
        assert!(second.closed().is_cancelled() && !third.closed().is_cancelled());
        assert!(!user.closed().is_cancelled() && !other.closed().is_cancelled());
        for connection in [&other, &third, &fourth] {
            connection.admit();
        }
        assert!(all.open(address(5)).is_none(), "users are not disconnected");
        drop((user, second));
        assert!(all.open(address(5)).is_some());
    }

    #[test]
    fn runs_keep_half_of_the_descriptors() {
        let most = most_connections() as u64;
        let descriptors = raise_descriptors(0);
        assert!((1..=MOST).contains(&most) && most <= descriptors / 2, "{most} of {descriptors}");
    }
}
