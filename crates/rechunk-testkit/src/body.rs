//! The body of an answer: counted, and wrong where it is told to be.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::log::Entry;

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;
/// Body of a backend's answer.
pub(crate) type PlainBody = UnsyncBoxBody<Bytes, BoxError>;

/// A body that is in memory.
pub(crate) fn full(bytes: impl Into<Bytes>) -> PlainBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Time for sent bytes to leave before the connection is closed.
const FLUSH: Duration = Duration::from_millis(10);

/// Fault of a body from a position on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tamper {
    /// Bytes before it are right.
    pub(crate) at: u64,
    pub(crate) kind: TamperKind,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum TamperKind {
    /// Nothing more comes and the connection is closed.
    Cut,
    /// Nothing comes for that long, or ever.
    Stall(Option<Duration>),
    /// This bit of the byte there is flipped.
    Flip(u8),
}

/// The body as sent. Its end, or its being dropped, ends the request in the log.
pub(crate) struct AnswerBody {
    inner: PlainBody,
    /// Received from `inner`, not sent yet.
    rest: Bytes,
    position: u64,
    tamper: Option<Tamper>,
    pause: Option<Pin<Box<Sleep>>>,
    is_cut: bool,
    entry: Entry,
}

impl AnswerBody {
    pub(crate) fn new(inner: PlainBody, tamper: Option<Tamper>, entry: Entry) -> Self {
        Self { inner, rest: Bytes::new(), position: 0, tamper, pause: None, is_cut: false, entry }
    }

    /// Number of the next bytes that may go before something happens.
    fn until_tamper(&self) -> Option<u64> {
        self.tamper.map(|tamper| tamper.at.saturating_sub(self.position))
    }

    /// Counts the next bytes, with the wrong bit if it is among them.
    fn send(&mut self, mut bytes: Bytes) -> Frame<Bytes> {
        if let (Some(ahead), Some(Tamper { kind: TamperKind::Flip(bit), .. })) =
            (self.until_tamper(), self.tamper)
            && let Ok(at) = usize::try_from(ahead)
            && at < bytes.len()
        {
            let mut changed = BytesMut::from(bytes.as_ref());
            changed[at] ^= 1 << (bit % 8);
            bytes = changed.freeze();
            self.tamper = None;
        }
        self.position += bytes.len() as u64;
        let sent = self.position;
        self.entry.update(|record| record.response_body_bytes = sent);
        Frame::data(bytes)
    }
}

impl fmt::Debug for AnswerBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AnswerBody").field("tamper", &self.tamper).finish_non_exhaustive()
    }
}

/// The end of a body that is cut.
#[derive(Debug, thiserror::Error)]
#[error("the body ends here on purpose")]
struct Cut;

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            if self.is_cut {
                return Poll::Ready(Some(Err(Box::new(Cut))));
            }
            let stop = match self.tamper {
                Some(Tamper { kind: TamperKind::Flip(_), .. }) | None => None,
                Some(tamper) => self.until_tamper().map(|ahead| (ahead, tamper.kind)),
            };
            match stop {
                Some((0, TamperKind::Stall(None))) => return Poll::Pending,
                Some((0, kind)) => {
                    self.is_cut = matches!(kind, TamperKind::Cut);
                    let length =
                        if let TamperKind::Stall(Some(time)) = kind { time } else { FLUSH };
                    self.pause = Some(Box::pin(sleep(length)));
                    self.tamper = None;
                    continue;
                }
                _ => {}
            }
            if self.rest.is_empty() {
                match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) => self.rest = data,
                        Err(other) => return Poll::Ready(Some(Ok(other))),
                    },
                    end => return Poll::Ready(end),
                }
            }
            let length = stop.map_or(u64::MAX, |(ahead, _)| ahead);
            let length = usize::try_from(length).unwrap_or(usize::MAX).min(self.rest.len());
            let bytes = self.rest.split_to(length);
            return Poll::Ready(Some(Ok(self.send(bytes))));
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
            && self.pause.is_none()
            && !self.is_cut
            && self.tamper.is_none()
            && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let inner = self.inner.size_hint();
        let rest = self.rest.len() as u64;
        match inner.exact() {
            Some(exact) => SizeHint::with_exact(exact + rest),
            None => SizeHint::default(),
        }
    }
}
