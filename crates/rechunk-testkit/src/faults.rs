//! Faults of a server, and their rates.

use std::time::Duration;

use crate::draw::{draw, fraction};
use crate::{Filter, Operation, RequestRecord};

/// One way to serve a request wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// 500 InternalError; the request is not executed.
    InternalError,
    /// 500 InternalError although the request was executed.
    InternalErrorAfter,
    /// 503 SlowDown; the request is not executed.
    SlowDown,
    /// 429 TooManyRequests; the request is not executed.
    TooManyRequests,
    /// 400 RequestTimeout; the request is not executed.
    RequestTimeout,
    /// The connection is reset before the request is executed; half of the times before its body
    /// is read, unless something waits for the request.
    ResetBefore,
    /// The request is executed, then the connection is reset: the answer is lost.
    ResetAfter,
    /// The body ends before its Content-Length, with an orderly close.
    TruncatedBody,
    /// The body stops midway for that long, or for ever with `None`.
    StalledBody(Option<Duration>),
    /// One bit of the body is wrong, its length is right.
    CorruptedBody,
    /// A write is executed twice, as by a proxy that repeats it; the second answer is sent.
    Duplicate,
    /// The ETag of the answer is another one.
    WrongETag,
    /// The request is executed that much later.
    Delay(Duration),
    /// A list answers as of that long ago.
    StaleList(Duration),
    /// 200 with an `<Error>` InternalError as body, not executed: S3 does it for a copy and for
    /// the completion of an upload.
    ErrorInOk,
    /// 403 AccessDenied; the request is not executed, nor will it be when it is repeated.
    AccessDenied,
    /// 501 NotImplemented; a copy is not executed, nor will it be when it is repeated.
    NotImplemented,
}

impl Fault {
    /// Faults that may befall any request and are over when it is repeated: refusals and lost
    /// connections, before and after it was executed.
    pub const MOMENTARY: [Self; 7] = [
        Self::InternalError,
        Self::InternalErrorAfter,
        Self::SlowDown,
        Self::TooManyRequests,
        Self::RequestTimeout,
        Self::ResetBefore,
        Self::ResetAfter,
    ];

    /// Whether the fault can befall such a request. What needs a body or an ETag in the answer
    /// can still find none; then the log has no fault.
    pub fn can_befall(self, operation: Operation) -> bool {
        match self {
            Self::TruncatedBody | Self::StalledBody(_) => {
                matches!(operation, Operation::Get | Operation::List)
            }
            Self::CorruptedBody => operation == Operation::Get,
            Self::Duplicate => operation.is_write(),
            Self::WrongETag => {
                matches!(operation, Operation::Get | Operation::Head | Operation::Put)
            }
            Self::StaleList(_) => operation == Operation::List,
            Self::ErrorInOk => matches!(operation, Operation::Copy | Operation::CompleteUpload),
            Self::NotImplemented => operation == Operation::Copy,
            _ => true,
        }
    }
}

/// Decides, by rates, which fault befalls which requests. The same seed decides the same for the
/// same sequence of requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Faults {
    seed: u64,
    rates: Vec<(Fault, f64)>,
    filter: Filter,
    /// Fraction of requests that are to be faulty, whatever their operation. The rates of the
    /// faults that can befall a request are scaled to it.
    total: Option<f64>,
}

impl Default for Faults {
    fn default() -> Self {
        Self::none()
    }
}

impl Faults {
    /// Everything is served truthfully.
    pub fn none() -> Self {
        Self { seed: 0, rates: Vec::new(), filter: Filter::any(), total: None }
    }

    /// A good day: up to 5 % of requests are faulty.
    pub fn light() -> Self {
        Self::none()
            .with(Fault::InternalError, 0.01)
            .with(Fault::SlowDown, 0.02)
            .with(Fault::ResetBefore, 0.005)
            .with(Fault::ResetAfter, 0.005)
            .with(Fault::TruncatedBody, 0.01)
    }

    /// A bad day: up to 15 %, every kind of error a client has to repeat.
    pub fn medium() -> Self {
        Self::none()
            .with(Fault::InternalError, 0.03)
            .with(Fault::InternalErrorAfter, 0.005)
            .with(Fault::SlowDown, 0.04)
            .with(Fault::TooManyRequests, 0.005)
            .with(Fault::RequestTimeout, 0.01)
            .with(Fault::ResetBefore, 0.02)
            .with(Fault::ResetAfter, 0.01)
            .with(Fault::TruncatedBody, 0.02)
            .with(Fault::StalledBody(Some(Duration::from_millis(200))), 0.005)
            .with(Fault::Duplicate, 0.005)
            .with(Fault::ErrorInOk, 0.01)
    }

    /// Worse than any store of our days: up to 40 %, with stalls and duplicates, and
    /// half of all lists are stale.
    pub fn hard() -> Self {
        Self::none()
            .with(Fault::InternalError, 0.08)
            .with(Fault::SlowDown, 0.12)
            .with(Fault::RequestTimeout, 0.03)
            .with(Fault::ResetBefore, 0.05)
            .with(Fault::ResetAfter, 0.04)
            .with(Fault::TruncatedBody, 0.05)
            .with(Fault::StalledBody(Some(Duration::from_secs(2))), 0.01)
            .with(Fault::Duplicate, 0.02)
            .with(Fault::ErrorInOk, 0.05)
            .with(Fault::StaleList(Duration::from_secs(2)), 0.50)
    }

    /// Makes a fraction of all requests faulty, in a mix that an honest client can repeat: bodies
    /// are never wrong, only short or late.
    pub fn rate(fraction: f64) -> Self {
        let mix = Self::none()
            .with(Fault::InternalError, 0.20)
            .with(Fault::SlowDown, 0.25)
            .with(Fault::TooManyRequests, 0.05)
            .with(Fault::RequestTimeout, 0.10)
            .with(Fault::ResetBefore, 0.15)
            .with(Fault::ResetAfter, 0.10)
            .with(Fault::TruncatedBody, 0.10)
            .with(Fault::StalledBody(Some(Duration::from_millis(100))), 0.05);
        Self { total: Some(fraction), ..mix }
    }

    /// This fault befalls that fraction of the requests it can befall, besides the others.
    #[must_use]
    pub fn with(mut self, fault: Fault, rate: f64) -> Self {
        self.rates.push((fault, rate));
        self
    }

    /// Other decisions at the same rates.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Only these requests; others are not counted either.
    #[must_use]
    pub fn only(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Whether the request is one that may be befallen.
    pub(crate) fn concern(&self, request: &RequestRecord) -> bool {
        self.filter.matches(request)
    }

    /// Decides which fault befalls the `number`-th request, which is an `operation`.
    pub fn decide(&self, number: u64, operation: Operation) -> Option<Fault> {
        let possible = || self.rates.iter().filter(|(fault, _)| fault.can_befall(operation));
        let sum: f64 = possible().map(|(_, rate)| rate).sum();
        let scale = self.total.map_or(1.0, |total| if sum > 0.0 { total / sum } else { 0.0 });
        let drawn = fraction(draw(self.seed, number));
        let mut below = 0.0;
        for (fault, rate) in possible() {
            below += rate * scale;
            if drawn < below {
                return Some(*fault);
            }
        }
        None
    }

    /// A number to choose details of the fault by, such as where a body ends.
    pub(crate) fn detail(&self, number: u64) -> u64 {
        draw(!self.seed, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decisions(faults: &Faults, operation: Operation) -> Vec<Option<Fault>> {
        (0..20_000).map(|number| faults.decide(number, operation)).collect()
    }

    #[test]
    fn the_same_seed_decides_the_same_and_another_one_not() {
        let faults = Faults::hard().seed(7);
        assert_eq!(decisions(&faults, Operation::Get), decisions(&faults, Operation::Get));
        let other = Faults::hard().seed(8);
        assert_ne!(decisions(&faults, Operation::Get), decisions(&other, Operation::Get));
    }

    #[test]
    fn a_rate_is_the_fraction_of_faulty_requests_of_every_kind() {
        for operation in [Operation::Get, Operation::Put, Operation::List, Operation::Head] {
            let decided = decisions(&Faults::rate(0.3), operation);
            let faulty = decided.iter().flatten().count();
            assert!((5_700..6_300).contains(&faulty), "{operation:?}: {faulty} of 20000");
            assert!(!decided.contains(&Some(Fault::CorruptedBody)));
        }
    }

    #[test]
    fn each_fault_of_a_preset_comes_at_its_rate() {
        let decided = decisions(&Faults::hard(), Operation::Get);
        let count = |fault| decided.iter().filter(|&&one| one == Some(fault)).count();
        assert!((1_450..1_750).contains(&count(Fault::InternalError)));
        assert!((2_250..2_550).contains(&count(Fault::SlowDown)));
        assert_eq!(count(Fault::Duplicate), 0, "a GET is no write");
    }
}
