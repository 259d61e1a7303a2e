//! Writes of blocks: those that are ready at one moment in one request.

use std::sync::Arc;

use bytes::Bytes;
use futures::channel::oneshot;
use object_store::Extensions;

use super::fault::Shared;
use super::queue::{Carrier, Queue, Waiting, path};
use super::server::Server;

/// Most requests at once: a server makes each of their blocks durable before it answers.
const REQUESTS_MAX: usize = 16;

/// A block that is to be written.
#[derive(Debug)]
struct Wish {
    address: String,
    /// Its header and its elements, as they are sent.
    block: [Bytes; 2],
    extensions: Extensions,
    tell: oneshot::Sender<Result<(), Shared>>,
}

impl Waiting for Wish {
    fn address(&self) -> &str {
        &self.address
    }

    fn bytes(&self) -> u64 {
        self.block.iter().map(|part| part.len() as u64).sum()
    }

    fn is_wanted(&self) -> bool {
        !self.tell.is_canceled()
    }
}

/// Writes the blocks of a level.
#[derive(Debug, Clone)]
pub(super) struct Writes {
    server: Arc<Server>,
    queue: Arc<Queue<Wish>>,
}

impl Writes {
    pub(super) fn new(server: Arc<Server>) -> Self {
        Self { server, queue: Queue::new(REQUESTS_MAX) }
    }

    /// Writes the block at `address`, in the version at `url`. The server has it when this returns.
    pub(super) async fn write(
        &self,
        url: &str,
        address: String,
        block: [Bytes; 2],
        extensions: Extensions,
    ) -> Result<(), Shared> {
        let (tell, told) = oneshot::channel();
        if let Some(carrier) = self.queue.push(Wish { address, block, extensions, tell }) {
            let carried = carry(carrier, Arc::clone(&self.server), url.to_owned());
            drop(tokio::spawn(carried)); // it ends by itself, when nobody waits
        }
        told.await.unwrap_or_else(|_| Err(Shared::interrupted("its request was given up")))
    }
}

/// Sends requests as long as something waits.
async fn carry(mut carrier: Carrier<Wish>, server: Arc<Server>, url: String) {
    loop {
        let wishes = carrier.take();
        let Some(first) = wishes.first() else { return };
        let asked = format!("{url}/{}", path(&wishes));
        let parts = wishes.iter().flat_map(|wish| wish.block.iter().cloned()).collect();
        let written = server.post(&asked, parts, first.extensions.clone()).await;
        for wish in wishes {
            // Who does not wait any more need not know.
            let _ = wish.tell.send(written.clone());
        }
    }
}
