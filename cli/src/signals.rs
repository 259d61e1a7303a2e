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
    let answered = in_own_thread(|mut signals| async move {
        signals.next().await;
        terminal::say(&format!("{answer} (again to stop at once)"));
        cancel.cancel();
        signals.next().await;
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
/// runtime, and a second Ctrl-C is to end the process then, too. When it returns, signals are
/// listened to: the thread may come later than the first bytes of the run.
fn in_own_thread<W: Future<Output = ()> + Send + 'static>(
    work: impl FnOnce(Signals) -> W,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let work = {
        let _inside = runtime.enter();
        work(Signals::listen()?)
    };
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

/// The signals that ask a run to stop.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Listens from now on. Needs a runtime.
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (interrupt, terminate) = (SignalKind::interrupt(), SignalKind::terminate());
        Ok(Self { interrupt: signal(interrupt)?, terminate: signal(terminate)? })
    }

    /// Waits for the next one.
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Ctrl-C, which asks a run to stop.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Listens when it is first waited for.
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next one.
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
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
        in_own_thread(|mut signals| async move {
            signals.next().await;
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

    #[tokio::test]
    async fn a_signal_counts_before_the_thread_runs() {
        let _listened_to = signal(SignalKind::terminate()).unwrap();
        let (run, may_run) = std::sync::mpsc::channel();
        let token = CancellationToken::new();
        let cancel = token.clone();
        in_own_thread(|mut signals| async move {
            may_run.recv().unwrap();
            signals.next().await;
            cancel.cancel();
        })
        .unwrap();
        kill_process(getpid(), Signal::TERM).unwrap();
        run.send(()).unwrap();
        let answered = tokio::time::timeout(Duration::from_mins(1), token.cancelled());
        answered.await.expect("nobody has answered");
    }
}
