//! Ctrl-C and SIGTERM ask the run to stop; a second one ends the process at once. SIGUSR1 asks how
//! far it is.

use std::io;
use std::thread;

use rechunk::CancellationToken;

use crate::terminal;

/// A token that is cancelled by the first signal, which is answered with what becomes of the run.
pub(crate) fn cancel_on_signal() -> CancellationToken {
    cancel_on_signal_saying("stopping; what is done is kept")
}

/// A token like that of [`cancel_on_signal`], with another answer to the signal.
pub(crate) fn cancel_on_signal_saying(answer: &'static str) -> CancellationToken {
    let token = CancellationToken::new();
    let cancel = token.clone();
    let answered = in_own_thread(async move {
        wait_for_signal().await;
        terminal::say(&format!("{answer} (again to stop at once)"));
        cancel.cancel();
        wait_for_signal().await;
        #[expect(
            clippy::exit,
            clippy::disallowed_methods,
            reason = "the user asked twice; the journal stands a kill"
        )]
        std::process::exit(130);
    });
    // Without a thread for it a signal ends the process, which the journal stands.
    if let Err(error) = answered {
        tracing::warn!(%error, "no thread for signals: the first one ends the run at once");
    }
    token
}

/// Does `work` where nobody holds it up. A file system that hangs may hold all threads of the
/// runtime, and a second Ctrl-C is to end the process then, too.
fn in_own_thread(work: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let thread = thread::Builder::new().name("rechunk-signals".to_owned());
    thread.spawn(move || runtime.block_on(work)).map(drop)
}

/// Has writes fail, and not the process end, where a file may not grow further. A process with such
/// limits (`ulimit -f`) gets SIGXFSZ, which ends it where nobody listens. Needs a runtime.
#[cfg(unix)]
pub(crate) fn survive_file_size_limits() {
    use tokio::signal::unix::{SignalKind, signal};
    // The handler stays when nobody waits for it any more. Without one, all else works.
    drop(signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())));
}

/// There is no such signal here.
#[cfg(not(unix))]
pub(crate) fn survive_file_size_limits() {}

/// Calls `answer` whenever somebody asks how far the run is: SIGUSR1, as `dd` has it.
#[cfg(unix)]
pub(crate) fn on_status_request(answer: impl Fn() + Send + 'static) {
    use tokio::signal::unix::{SignalKind, signal};
    tokio::spawn(async move {
        let Ok(mut asked) = signal(SignalKind::user_defined1()) else { return };
        while asked.recv().await.is_some() {
            answer();
        }
    });
}

/// There is no such signal here.
#[cfg(not(unix))]
pub(crate) fn on_status_request(_answer: impl Fn() + Send + 'static) {}

#[cfg(unix)]
async fn wait_for_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
async fn wait_for_signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use rustix::process::{Signal, getpid, kill_process};
    use tokio::signal::unix::{SignalKind, signal};

    use super::*;

    #[tokio::test]
    async fn a_runtime_that_hangs_holds_no_signal_up() {
        // From here on the signal ends no process, whether somebody waits for it or not.
        let _listened_to = signal(SignalKind::interrupt()).unwrap();
        let token = CancellationToken::new();
        let cancel = token.clone();
        in_own_thread(async move {
            wait_for_signal().await;
            cancel.cancel();
        })
        .unwrap();
        for _ in 0..200 {
            kill_process(getpid(), Signal::INT).unwrap();
            // The only thread of the runtime does nothing else.
            thread::sleep(Duration::from_millis(50));
            if token.is_cancelled() {
                return;
            }
        }
        panic!("nobody has answered");
    }
}
