//! The way of a request: into the log, past the hooks and faults, to the backend and back.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::OptionFuture;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{ETAG, HeaderValue, RANGE};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use tokio::sync::RwLock;

use crate::backend::{AsOf, Backend, Subject};
use crate::body::{AnswerBody, BoxError, PlainBody, Tamper, TamperKind};
use crate::hooks::{Due, Halt, Hooks, Moment, Outcome};
use crate::log::{Entry, RequestLog, lock};
use crate::throttle::Load;
use crate::xml_api::error_answer;
use crate::{Fault, Faults, RequestRecord};

/// State that all connections of a server share.
pub(crate) struct Shared {
    backend: Box<dyn Backend>,
    pub(crate) log: RequestLog,
    pub(crate) hooks: Arc<Hooks>,
    pub(crate) settings: Mutex<Settings>,
    numbers: AtomicU64,
    /// Read while a request is executed: whoever gets it for writing knows that none is.
    executing: Arc<RwLock<()>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Settings that a test can change while the server runs.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) faults: Faults,
    /// Requests that the faults' filter let through since the faults were set.
    pub(crate) decided: u64,
    pub(crate) latency: Duration,
    pub(crate) load: Load,
}

/// Why a request gets no answer: its connection is closed, or reset.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Dropped {
    #[error("the connection is reset on purpose")]
    Reset,
    #[error("the request cannot be received or executed: {0}")]
    Failed(#[source] BoxError),
}

/// Fate of a request, decided when it arrives.
struct Fate {
    fault: Option<Fault>,
    /// Says where in a body, which bit and the like.
    detail: u64,
    latency: Duration,
    due: Due,
}

impl Shared {
    pub(crate) fn new(backend: Box<dyn Backend>, faults: Faults, latency: Duration) -> Self {
        Self {
            backend,
            log: RequestLog::default(),
            hooks: Arc::default(),
            settings: Mutex::new(Settings { faults, latency, ..Settings::default() }),
            numbers: AtomicU64::new(0),
            executing: Arc::default(),
        }
    }

    /// Returns when no request is being executed.
    pub(crate) async fn idle(&self) {
        drop(self.executing.write().await);
    }

    /// Serves one request.
    pub(crate) async fn serve(
        self: Arc<Self>,
        is_reset: Arc<AtomicBool>,
        request: Request<Incoming>,
    ) -> Result<Response<AnswerBody>, Dropped> {
        let answer = self.lead(request).await;
        if matches!(answer, Err(Dropped::Reset)) {
            is_reset.store(true, Ordering::Release);
        }
        answer
    }

    async fn lead(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<AnswerBody>, Dropped> {
        let (head, body) = request.into_parts();
        let subject = self.backend.subject(&head);
        let (entry, fate) = self.arrive(&head, &subject);
        let Fate { fault, detail, latency, mut due } = fate;
        if fault == Some(Fault::ResetBefore) && detail.is_multiple_of(2) && !due.is_met() {
            return Err(befall(&entry, Fault::ResetBefore, Dropped::Reset));
        }
        let body = body.collect().await.map_err(|error| Dropped::Failed(Box::new(error)))?;
        let body = body.to_bytes();
        entry.update(|record| record.request_body_bytes = body.len() as u64);

        halt(due.take(Moment::Before), &entry).await?;
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        if let Some(Fault::Delay(time)) = fault {
            befall(&entry, Fault::Delay(time), ());
            tokio::time::sleep(time).await;
        }
        if let Some(fault @ Fault::ResetBefore) = fault {
            befall(&entry, fault, ());
            halt(due.take(Moment::After), &entry).await?;
            return Err(Dropped::Reset);
        }
        let refused = fault.and_then(|fault| Some((fault, refusal(fault)?)));
        let answer = if let Some((fault, refusal)) = refused {
            befall(&entry, fault, refusal)
        } else {
            self.execute(&entry, fault, subject, Request::from_parts(head, body)).await?
        };
        halt(due.take(Moment::After), &entry).await?;
        send(answer, fault, detail, entry)
    }

    /// Writes the request into the log and decides what befalls it.
    fn arrive(&self, head: &Parts, subject: &Subject) -> (Entry, Fate) {
        // One request after the other, so that numbers, decisions and the log are in one order.
        let mut settings = lock(&self.settings);
        let record = RequestRecord {
            number: self.numbers.fetch_add(1, Ordering::Relaxed) + 1,
            method: head.method.to_string(),
            bucket: subject.bucket.clone(),
            key: subject.key.clone(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            operation: subject.operation,
            range: head.headers.get(RANGE).map(|v| String::from_utf8_lossy(v.as_bytes()).into()),
            status: None,
            request_body_bytes: 0,
            response_body_bytes: 0,
            fault: None,
            executions: 0,
            started: Instant::now(),
            ended: None,
        };
        let due = self.hooks.arrive(&record);
        let (mut fault, mut detail) = (None, settings.faults.detail(record.number));
        if settings.faults.concern(&record) {
            settings.decided += 1;
            fault = settings.faults.decide(settings.decided, record.operation);
            detail = settings.faults.detail(settings.decided);
        }
        fault = due.fault.or(fault).filter(|fault| fault.can_befall(record.operation));
        let serving = settings.load.admit(record.started);
        if serving.is_none() {
            fault = Some(Fault::SlowDown);
        }
        let fate = Fate { fault, detail, latency: settings.latency, due };
        (self.log.begin(record, serving), fate)
    }

    /// Executes the request, once or twice. In a task of its own: a client that goes away in the
    /// middle does not leave half of a write, as it does not at a real store.
    async fn execute(
        self: &Arc<Self>,
        entry: &Entry,
        fault: Option<Fault>,
        subject: Subject,
        mut request: Request<Bytes>,
    ) -> Result<Response<PlainBody>, Dropped> {
        let mut second = None;
        match fault {
            Some(fault @ Fault::Duplicate) => {
                second = Some(befall(entry, fault, request.clone()));
            }
            Some(fault @ Fault::StaleList(age)) => {
                request.extensions_mut().insert(AsOf(age));
                befall(entry, fault, ());
            }
            _ => {}
        }
        let executions = 1 + u32::from(second.is_some());
        entry.update(|record| record.executions = executions);
        let (shared, guard) = (Arc::clone(self), Arc::clone(&self.executing).read_owned().await);
        let work = tokio::spawn(async move {
            let first = shared.backend.answer(subject.clone(), request).await;
            let second: OptionFuture<_> =
                second.map(|request| shared.backend.answer(subject, request)).into();
            let answer = second.await.unwrap_or(first);
            drop(guard);
            answer
        });
        match work.await {
            Ok(answer) => answer.map_err(Dropped::Failed),
            Err(panic) => Err(Dropped::Failed(Box::new(panic))),
        }
    }
}

/// Sends an answer on its way back, changed or dropped by its fault.
fn send(
    mut answer: Response<PlainBody>,
    fault: Option<Fault>,
    detail: u64,
    entry: Entry,
) -> Result<Response<AnswerBody>, Dropped> {
    let mut tamper = None;
    match fault {
        Some(fault @ Fault::ResetAfter) => return Err(befall(&entry, fault, Dropped::Reset)),
        Some(fault @ Fault::InternalErrorAfter) => {
            answer = befall(&entry, fault, internal_error());
        }
        Some(fault @ Fault::WrongETag) if answer.headers().contains_key(ETAG) => {
            let wrong = format!("\"{detail:032x}\"");
            if let Ok(wrong) = HeaderValue::from_str(&wrong) {
                answer.headers_mut().insert(ETAG, befall(&entry, fault, wrong));
            }
        }
        Some(fault) => {
            tamper = tamper_with(fault, detail, &answer);
            if tamper.is_some() {
                befall(&entry, fault, ());
            }
        }
        None => {}
    }
    entry.update(|record| record.status = Some(answer.status().as_u16()));
    Ok(answer.map(|body| AnswerBody::new(body, tamper, entry)))
}

/// Writes into the log that the fault befell the request, and hands on what comes of it.
fn befall<T>(entry: &Entry, fault: Fault, consequence: T) -> T {
    entry.update(|record| record.fault = Some(fault));
    consequence
}

async fn halt(halts: Vec<Halt>, entry: &Entry) -> Result<(), Dropped> {
    for halt in halts {
        if halt.meet(entry.snapshot()).await == Outcome::Abandon {
            return Err(Dropped::Reset);
        }
    }
    Ok(())
}

/// The answer that stands for the execution of the request.
fn refusal(fault: Fault) -> Option<Response<PlainBody>> {
    Some(match fault {
        Fault::InternalError => internal_error(),
        Fault::SlowDown => error_answer(
            StatusCode::SERVICE_UNAVAILABLE,
            "SlowDown",
            "Please reduce your request rate.",
        ),
        Fault::TooManyRequests => error_answer(
            StatusCode::TOO_MANY_REQUESTS,
            "TooManyRequests",
            "Please reduce your request rate.",
        ),
        Fault::RequestTimeout => error_answer(
            StatusCode::BAD_REQUEST,
            "RequestTimeout",
            "Your socket connection to the server was not read from or written to within the \
             timeout period.",
        ),
        Fault::AccessDenied => error_answer(StatusCode::FORBIDDEN, "AccessDenied", "Access Denied"),
        Fault::NotImplemented => error_answer(
            StatusCode::NOT_IMPLEMENTED,
            "NotImplemented",
            "A header you provided implies functionality that is not implemented",
        ),
        Fault::ErrorInOk => {
            let mut answer = internal_error();
            *answer.status_mut() = StatusCode::OK;
            answer
        }
        _ => return None,
    })
}

fn internal_error() -> Response<PlainBody> {
    error_answer(
        StatusCode::INTERNAL_SERVER_ERROR,
        "InternalError",
        "We encountered an internal error. Please try again.",
    )
}

/// Damage that a fault does to the body of an answer; `None` if it has no bytes, or is no object's.
fn tamper_with(fault: Fault, detail: u64, answer: &Response<PlainBody>) -> Option<Tamper> {
    let length_bytes = answer.body().size_hint().exact().or_else(|| {
        let header = answer.headers().get(hyper::header::CONTENT_LENGTH)?;
        header.to_str().ok()?.parse().ok()
    });
    // A body of unknown length is sent in pieces; its first one can be withheld.
    let length_bytes = length_bytes.unwrap_or(1);
    if length_bytes == 0 || answer.body().is_end_stream() {
        return None;
    }
    let kind = match fault {
        Fault::TruncatedBody => TamperKind::Cut,
        Fault::StalledBody(time) => TamperKind::Stall(time),
        Fault::CorruptedBody if answer.status().is_success() => {
            TamperKind::Flip(u8::try_from(detail >> 61).unwrap_or_default())
        }
        _ => return None,
    };
    Some(Tamper { at: detail % length_bytes, kind })
}
