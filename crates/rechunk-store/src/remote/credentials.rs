//! Credentials that a service of the machine is asked for: where there is none, it is said soon.
//!
//! `object_store` asks the metadata service of a cloud machine when nothing else was said. On any
//! other machine nobody answers, and it would try again for as long as a store may be silent.

use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use object_store::CredentialProvider;
use thiserror::Error;
use tokio::time::timeout;

/// Time that the first credentials may take.
const FIRST: Duration = Duration::from_secs(6);

/// A provider that gives up soon as long as it has never given any.
#[derive(Debug)]
pub(super) struct Prompt<T> {
    inner: Arc<dyn CredentialProvider<Credential = T>>,
    /// Outcome of the first time: nothing, or why there are none.
    first: OnceLock<Result<(), String>>,
}

#[derive(Debug, Error)]
#[error("there are no credentials, and no service of this machine gives any: {reason}")]
struct NoCredentials {
    reason: String,
}

impl<T> Prompt<T> {
    pub(super) fn new(inner: &Arc<dyn CredentialProvider<Credential = T>>) -> Arc<Self> {
        Arc::new(Self { inner: Arc::clone(inner), first: OnceLock::new() })
    }
}

#[async_trait]
impl<T: Debug + Send + Sync> CredentialProvider for Prompt<T> {
    type Credential = T;

    async fn get_credential(&self) -> object_store::Result<Arc<T>> {
        match self.first.get() {
            // Later ones are tried as often as any request.
            Some(Ok(())) => return self.get().await,
            Some(Err(reason)) => return Err(none(reason)),
            None => {}
        }
        let reason = match timeout(FIRST, self.get()).await {
            Ok(Ok(credential)) => {
                // Others who asked at the same time have got some too.
                let _ = self.first.set(Ok(()));
                return Ok(credential);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {} s", FIRST.as_secs()),
        };
        let _ = self.first.set(Err(reason.clone()));
        Err(none(&reason))
    }
}

impl<T: Debug + Send + Sync> Prompt<T> {
    /// The library below panics at answers that are none of such a service, like the page of a
    /// captive portal.
    async fn get(&self) -> object_store::Result<Arc<T>> {
        let got = AssertUnwindSafe(self.inner.get_credential()).catch_unwind().await;
        got.unwrap_or_else(|_| Err(none("the answer makes no sense")))
    }
}

fn none(reason: &str) -> object_store::Error {
    let source = NoCredentials { reason: reason.to_owned() };
    object_store::Error::Unauthenticated { path: String::new(), source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Gives credentials the first so many times, then says nothing.
    #[derive(Debug)]
    struct Silent {
        given: u32,
        asked: AtomicU32,
    }

    #[async_trait]
    impl CredentialProvider for Silent {
        type Credential = u32;

        async fn get_credential(&self) -> object_store::Result<Arc<u32>> {
            let asked = self.asked.fetch_add(1, Ordering::Relaxed);
            if asked < self.given {
                return Ok(Arc::new(asked));
            }
            std::future::pending().await
        }
    }

    fn silent(given: u32) -> Arc<Prompt<u32>> {
        let inner: Arc<dyn CredentialProvider<Credential = u32>> =
            Arc::new(Silent { given, asked: AtomicU32::new(0) });
        Prompt::new(&inner)
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_waited_for_once_and_only_at_the_beginning() {
        let none = silent(0);
        let started = tokio::time::Instant::now();
        for _ in 0..3 {
            let error = none.get_credential().await.unwrap_err();
            assert!(error.to_string().contains("no credentials"), "{error}");
        }
        assert_eq!(started.elapsed(), FIRST);
        let some = silent(1);
        some.get_credential().await.unwrap();
        let again = timeout(FIRST * 3, some.get_credential()).await;
        assert!(again.is_err(), "a refresh is waited for as any request");
    }
}
