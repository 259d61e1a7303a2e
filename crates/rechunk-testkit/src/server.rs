//! A server on loopback with a thread and a runtime of its own.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::backend::Backend;
use crate::connection::Connection;
use crate::layer::Shared;
use crate::log::{in_flight_times, lock};
use crate::{Fault, Faults, Filter, Hold, Moment, RequestRecord, Result, TestkitError, Throttle};

/// Time for which the end of a server waits for a callback that does not return.
const PATIENCE: Duration = Duration::from_secs(5);

/// Options of a server; the default is a directory of its own, any port, and the truth at once.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// Directory of the objects; `None` for one that is removed with the server.
    pub root: Option<PathBuf>,
    /// The port on 127.0.0.1; 0 for any.
    pub port: u16,
    /// Faults of the server.
    pub faults: Faults,
    /// Delay of every answer.
    pub latency: Duration,
}

/// Common part of all test servers. Dropping it ends the server in order.
///
/// The body of a request is in memory until it was executed; bodies of answers are streamed.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    runtime: Handle,
    running: Mutex<Option<Running>>,
    quit: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The accepting task.
#[derive(Debug)]
struct Running {
    cancel: CancellationToken,
    stopped: mpsc::Receiver<()>,
}

impl Server {
    pub(crate) fn start(backend: Box<dyn Backend>, options: &ServerOptions) -> Result<Self> {
        let listener = listen(options.port)?;
        let listen_error = |source| TestkitError::Listen { port: options.port, source };
        let address = listener.local_addr().map_err(listen_error)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("testkit")
            .enable_all()
            .build()
            .map_err(TestkitError::Runtime)?;
        let handle = runtime.handle().clone();
        let (quit, quitting) = oneshot::channel();
        // The runtime lives and ends on this thread: a test with a runtime of its own must not drop
        // it.
        let thread = std::thread::Builder::new()
            .name("testkit".into())
            .spawn(move || {
                runtime.block_on(async { quitting.await.unwrap_or_default() });
                runtime.shutdown_timeout(PATIENCE);
            })
            .map_err(TestkitError::Runtime)?;
        let shared = Arc::new(Shared::new(backend, options.faults.clone(), options.latency));
        let server = Self {
            shared,
            address,
            runtime: handle,
            running: Mutex::new(None),
            quit: Some(quit),
            thread: Some(thread),
        };
        server.run(listener).map_err(listen_error)?;
        Ok(server)
    }

    fn run(&self, listener: TcpListener) -> std::io::Result<()> {
        listener.set_nonblocking(true)?;
        let _entered = self.runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (cancel, (stopping, stopped)) = (CancellationToken::new(), mpsc::channel());
        let (shared, token) = (Arc::clone(&self.shared), cancel.clone());
        self.runtime.spawn(async move {
            accept(listener, &shared, token).await;
            shared.idle().await;
            stopping.send(()).unwrap_or_default();
        });
        *lock(&self.running) = Some(Running { cancel, stopped });
        Ok(())
    }

    /// URL of the server: `http://127.0.0.1:PORT`.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends all connections and refuses new ones, until [`Server::restart`]. Returns when nothing
    /// is being executed any more.
    pub fn stop(&self) {
        if let Some(running) = lock(&self.running).take() {
            running.cancel.cancel();
            running.stopped.recv().unwrap_or_default();
        }
    }

    /// Listens again at the same port after [`Server::stop`], with the same objects, log and
    /// faults.
    pub fn restart(&self) -> Result<()> {
        self.stop();
        let port = self.address.port();
        let listener = listen(port)?;
        self.run(listener).map_err(|source| TestkitError::Listen { port, source })
    }

    /// From now on these faults befall requests; their counter begins anew.
    pub fn set_faults(&self, faults: Faults) {
        let mut settings = lock(&self.shared.settings);
        settings.faults = faults;
        settings.decided = 0;
    }

    /// From now on what is beyond that is refused, as by [`Fault::SlowDown`].
    pub fn set_throttle(&self, throttle: Throttle) {
        lock(&self.shared.settings).load.throttle = throttle;
    }

    /// From now on every request is executed and answered that much later. A very long time makes
    /// a server that accepts and never answers.
    pub fn set_latency(&self, latency: Duration) {
        lock(&self.shared.settings).latency = latency;
    }

    /// The `nth` request of the filter, from now on and from 1, suffers this fault and no other.
    /// If the fault cannot befall it ([`Fault::can_befall`]) it is served truthfully.
    pub fn fail_nth(&self, filter: Filter, nth: u64, fault: Fault) {
        self.shared.hooks.fail(filter, nth, fault);
    }

    /// The `nth` request of the filter, from now on and from 1, is held at that moment.
    pub fn hold_nth(&self, filter: Filter, nth: u64, moment: Moment) -> Hold {
        self.shared.hooks.hold(filter, nth, moment)
    }

    /// Calls back when the `nth` request of the filter, from now on and from 1, gets to that
    /// moment. The request waits for the return; a panic resets its connection.
    pub fn call_at_nth(
        &self,
        filter: Filter,
        nth: u64,
        moment: Moment,
        callback: impl FnOnce(&RequestRecord) + Send + 'static,
    ) {
        self.shared.hooks.call(filter, nth, moment, Box::new(callback));
    }

    /// Forgets every fault, hold and callback for an n-th request that has not come yet.
    pub fn clear_hooks(&self) {
        self.shared.hooks.clear();
    }

    /// The requests since the start or the last [`Server::clear_requests`], in order of arrival.
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.shared.log.records()
    }

    /// Empties the log. Numbers go on.
    pub fn clear_requests(&self) {
        self.shared.log.clear();
    }

    /// The most requests of the log that were in flight at once.
    pub fn max_in_flight(&self) -> usize {
        self.in_flight_times().len().saturating_sub(1)
    }

    /// Times for which so many requests of the log were in flight. Element `n` is the time with
    /// exactly `n`, from the first one's start to the last one's end.
    pub fn in_flight_times(&self) -> Vec<Duration> {
        in_flight_times(&self.requests(), Instant::now())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whoever is held now goes on: nobody is left to release it.
        self.shared.hooks.clear();
        self.stop();
        if let Some(quit) = self.quit.take() {
            quit.send(()).unwrap_or_default();
        }
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed; there is nothing to do about it here.
            thread.join().unwrap_or_default();
        }
    }
}

fn listen(port: u16) -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .map_err(|source| TestkitError::Listen { port, source })
}

/// Accepts connections until it is cancelled, then ends them.
async fn accept(
    listener: tokio::net::TcpListener,
    shared: &Arc<Shared>,
    cancel: CancellationToken,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = cancel.cancelled() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => {
                // An error is the client's that went away, or no file descriptors for a moment.
                if let Ok((stream, _)) = accepted {
                    connections.spawn(connect(stream, Arc::clone(shared)));
                } else {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        }
    }
    drop(listener);
    connections.shutdown().await;
}

async fn connect(stream: tokio::net::TcpStream, shared: Arc<Shared>) {
    // Without it small answers wait for acknowledgements; with an error they do.
    stream.set_nodelay(true).unwrap_or_default();
    let is_reset = Arc::new(AtomicBool::new(false));
    let connection = Connection::new(stream, Arc::clone(&is_reset));
    let service = service_fn(|request| Arc::clone(&shared).serve(Arc::clone(&is_reset), request));
    // An error is a client's that went away or one on purpose: the log has it.
    http1::Builder::new()
        .serve_connection(TokioIo::new(connection), service)
        .await
        .unwrap_or_default();
}
