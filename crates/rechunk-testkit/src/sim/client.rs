//! One process that uses the store.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::disk::State;
use super::faults::{Fate, passing, said};
use super::{Dice, SimFaults, SimStore};

/// At which of its calls, counted from 1, a client dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Before the call has its effect.
    Before(u64),
    /// After it, with nobody told.
    After(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Runs,
    Paused,
    Dead,
}

#[derive(Debug)]
struct Life {
    mode: Mode,
    calls: u64,
    end: Option<End>,
    in_flight: u64,
    in_flight_max: u64,
}

/// A process that uses a [`SimStore`]. Clones are the same process.
#[derive(Debug, Clone)]
pub struct SimClient {
    pub(super) store: SimStore,
    pub(super) number: u64,
    /// It sees the store as it is: nothing fails, nothing takes time, nothing is counted.
    is_quiet: bool,
    life: Arc<Mutex<Life>>,
    changed: Arc<Notify>,
}

/// A call under way.
pub(super) struct Call {
    life: Arc<Mutex<Life>>,
    number: u64,
    pub fate: Fate,
    after: Duration,
}

impl Drop for Call {
    fn drop(&mut self) {
        lock(&self.life).in_flight -= 1;
    }
}

fn lock(life: &Mutex<Life>) -> MutexGuard<'_, Life> {
    life.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SimStore {
    /// A new process.
    pub fn client(&self) -> SimClient {
        self.new_client(false)
    }

    /// Somebody who sees the store as it is: nothing goes wrong, takes time or is counted.
    pub fn observer(&self) -> SimClient {
        self.new_client(true)
    }

    fn new_client(&self, is_quiet: bool) -> SimClient {
        let mut state = self.lock();
        if !is_quiet {
            state.clients += 1;
        }
        let life = Life { mode: Mode::Runs, calls: 0, end: None, in_flight: 0, in_flight_max: 0 };
        SimClient {
            store: self.clone(),
            number: state.clients,
            is_quiet,
            life: Arc::new(Mutex::new(life)),
            changed: Arc::default(),
        }
    }
}

impl SimClient {
    /// Its number, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Number of calls that it has made.
    pub fn calls(&self) -> u64 {
        self.life().calls
    }

    /// The most of its calls that were under way at once since this was last asked.
    pub fn take_in_flight_max(&self) -> u64 {
        let mut life = self.life();
        let now = life.in_flight;
        std::mem::replace(&mut life.in_flight_max, now)
    }

    /// It dies at a call: from then on none of its calls has an effect, or an end.
    pub fn die_at(&self, end: End) {
        self.life().end = Some(end);
    }

    /// It is gone: as [`SimClient::die_at`], now.
    pub fn die(&self) {
        self.set(Mode::Dead);
    }

    /// Its calls wait until [`SimClient::resume`].
    pub fn pause(&self) {
        self.set(Mode::Paused);
    }

    /// Its calls go on.
    pub fn resume(&self) {
        self.set(Mode::Runs);
    }

    /// Waits until it has died.
    pub async fn died(&self) {
        self.wait_for(Mode::Dead).await;
    }

    /// Makes durable what was written before.
    pub async fn sync(&self) -> io::Result<()> {
        let fate = |faults: &SimFaults, dice: &mut Dice, _| {
            if dice.percent(faults.refused / 4) { Fate::Refused } else { Fate::Well }
        };
        let mut call = self.begin("sync", "", fate).await;
        if call.fate == Fate::Refused {
            return Err(io::Error::other("simulated failure of a disk"));
        }
        let pause = std::mem::take(&mut call.after);
        self.store.sync_after(self.pause_for(pause)).await;
        self.end(call).await;
        Ok(())
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        lock(&self.life)
    }

    fn set(&self, mode: Mode) {
        let mut life = self.life();
        if life.mode != Mode::Dead {
            life.mode = mode;
        }
        drop(life);
        self.changed.notify_waiters();
    }

    async fn wait_for(&self, mode: Mode) {
        loop {
            let changed = self.changed.notified();
            if self.life().mode == mode {
                return;
            }
            changed.await;
        }
    }

    async fn pause_for(&self, pause: Duration) {
        if !pause.is_zero() {
            sleep(pause).await;
        }
        self.wait_for(Mode::Runs).await;
    }

    /// The way to the store.
    pub(super) async fn begin(
        &self,
        what: &str,
        key: &str,
        fate: impl FnOnce(&SimFaults, &mut Dice, u64) -> Fate,
    ) -> Call {
        if self.is_quiet {
            self.store.lock().settle();
            return self.call(Fate::Well, Duration::ZERO);
        }
        self.wait_for(Mode::Runs).await;
        let number = self.calls() + 1;
        if self.life().end == Some(End::Before(number)) {
            self.die();
        }
        let (call, before) = {
            let mut state = self.store.lock();
            state.calls += 1;
            let (faults, calls) = (state.faults, state.calls);
            let fate = fate(&faults, &mut state.dice, calls);
            let (before, after) = (latency(&mut state), latency(&mut state));
            state.note(self.number, what, key, &fate);
            (self.call(fate, after), before)
        };
        self.pause_for(before).await;
        self.store.lock().settle();
        call
    }

    fn call(&self, fate: Fate, after: Duration) -> Call {
        let mut life = self.life();
        life.calls += 1;
        life.in_flight += 1;
        life.in_flight_max = life.in_flight_max.max(life.in_flight);
        Call { life: Arc::clone(&self.life), number: life.calls, fate, after }
    }

    /// The way back.
    pub(super) async fn end(&self, call: Call) {
        if self.is_quiet {
            return;
        }
        if self.life().end == Some(End::After(call.number)) {
            self.die();
        }
        self.pause_for(call.after).await;
    }

    /// The way back with an error.
    pub(super) async fn fail<T>(&self, call: Call, error: Error) -> Result<T> {
        self.end(call).await;
        Err(error)
    }

    /// The way back of a call that was refused.
    pub(super) async fn refuse<T>(&self, call: Call) -> Result<T> {
        let error = passing(&mut self.store.lock().dice);
        self.fail(call, error).await
    }
}

/// Time that one way takes.
fn latency(state: &mut State) -> Duration {
    let most = state.latency_ms;
    let drawn = state.dice.below(most + 1);
    let stalls = state.faults.stall > 0 && state.dice.percent(state.faults.stall);
    Duration::from_millis(if stalls { drawn * 20 } else { drawn })
}

impl fmt::Display for SimClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "simulated client {}", self.number)
    }
}

#[async_trait]
impl ObjectStore for SimClient {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.put_object(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        _location: &Path,
        _options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(Error::NotSupported { source: said("the simulation has no multipart uploads") })
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.get_object(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let client = self.clone();
        let delete = move |location: Result<Path>| {
            let client = client.clone();
            async move { client.delete_object(location?).await }
        };
        locations.then(delete).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (client, prefix) = (self.clone(), prefix.map(ToString::to_string).unwrap_or_default());
        let listed = async move {
            match client.list_objects(&prefix).await {
                Ok(objects) => objects.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            }
        };
        stream::once(listed).flat_map(stream::iter).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.list_directory(&prefix.map(ToString::to_string).unwrap_or_default()).await
    }

    async fn copy_opts(&self, _from: &Path, _to: &Path, _options: CopyOptions) -> Result<()> {
        Err(Error::NotSupported { source: said("the simulation copies nothing") })
    }
}
