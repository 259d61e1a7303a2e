//! Requests of each client in a second: bounded, with a burst after a pause.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Clients that are remembered at once. Each is forgotten when its debt is paid, within a second.
const CLIENTS_MAX: usize = 1 << 16;
/// Least time between two searches for clients that may be forgotten.
const SWEEP_TIME: Duration = Duration::from_millis(100);
/// Time in which a client that has paused may send all requests of a second.
const BURST: Duration = Duration::from_secs(1);

/// A client whose requests are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Client {
    /// By the name of its token.
    Token(String),
    /// By its address.
    Address(IpAddr),
}

impl Client {
    /// A client by its address; in IPv6 by its network, of which each has all addresses.
    pub(super) fn at(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::from([a, b, c, d, 0, 0, 0, 0])
            }
            v4 @ IpAddr::V4(_) => v4,
        })
    }
}

#[derive(Debug)]
struct Debts {
    /// When each client has paid for its requests, one interval each.
    paid_at: HashMap<Client, Instant>,
    swept: Option<Instant>,
}

/// The generic cell rate algorithm (ITU-T I.371, annex A), for each client.
#[derive(Debug)]
pub(super) struct Rate {
    interval: Duration,
    clients_max: usize,
    debts: Mutex<Debts>,
}

impl Rate {
    /// Lets each client have `per_second` requests.
    pub(super) fn new(per_second: NonZeroU32) -> Self {
        let debts = Debts { paid_at: HashMap::new(), swept: None };
        let interval = BURST / per_second.get();
        Self { interval, clients_max: CLIENTS_MAX, debts: Mutex::new(debts) }
    }

    /// Counts a request; refuses it with the time that the client has to wait.
    pub(super) fn take(&self, client: Client, now: Instant) -> Result<(), Duration> {
        let mut debts = self.debts.lock();
        if debts.paid_at.len() >= self.clients_max && !debts.paid_at.contains_key(&client) {
            if debts.swept.is_none_or(|swept| now.duration_since(swept) >= SWEEP_TIME) {
                debts.swept = Some(now);
                debts.paid_at.retain(|_, paid_at| *paid_at > now);
            }
            if debts.paid_at.len() >= self.clients_max {
                return Err(SWEEP_TIME);
            }
        }
        let paid_at = debts.paid_at.entry(client).or_insert(now);
        let debt = paid_at.saturating_duration_since(now) + self.interval;
        let over = debt.saturating_sub(BURST);
        if !over.is_zero() {
            return Err(over);
        }
        *paid_at = now + debt;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(per_second: u32) -> Rate {
        Rate::new(NonZeroU32::new(per_second).unwrap())
    }

    fn client(last: u8) -> Client {
        Client::at(IpAddr::from([10, 0, 0, last]))
    }

    #[test]
    fn a_burst_is_taken_then_one_at_a_time() {
        let (rate, start) = (rate(5), Instant::now());
        for _ in 0..5 {
            rate.take(client(1), start).unwrap();
        }
        let wait = rate.take(client(1), start).unwrap_err();
        assert_eq!(wait, Duration::from_millis(200));
        // A request that is refused costs nothing.
        rate.take(client(1), start + wait).unwrap();
        rate.take(client(1), start + wait).unwrap_err();
        rate.take(client(2), start).unwrap();
        let later = start + Duration::from_mins(1);
        assert_eq!((0..9).filter(|_| rate.take(client(1), later).is_ok()).count(), 5);
    }

    #[test]
    fn clients_that_have_paid_are_forgotten_and_no_more_are_remembered() {
        let rate = Rate { clients_max: 3, ..rate(10) };
        let start = Instant::now();
        for last in 0..3 {
            rate.take(client(last), start).unwrap();
        }
        assert_eq!(rate.take(client(3), start), Err(SWEEP_TIME));
        assert_eq!(rate.debts.lock().paid_at.len(), 3);
        rate.take(client(0), start).unwrap();
        let later = start + Duration::from_millis(150);
        rate.take(client(3), later).unwrap();
        assert_eq!(rate.debts.lock().paid_at.len(), 2);
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let at = |text: &str| Client::at(text.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::2:3"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
    }
}
