//! Reads of blocks: those that are wanted at one moment by one request.

use std::sync::Arc;

use bytes::Bytes;
use futures::channel::{mpsc, oneshot};
use futures::{SinkExt, StreamExt};
use object_store::Extensions;
use object_store::client::HttpResponse;

use super::answer::{AnswerReader, Piece};
use super::fault::{Fault, Shared};
use super::level::Level;
use super::queue::{Carrier, Queue, Waiting, path};
use super::server::Server;
use super::sizes::Sizes;

/// Most requests at once: behind them others gather (`docs/design/040-datastore-client.md` has what
/// was measured).
const REQUESTS_MAX: usize = 16;
/// Pieces of a block that are ahead of whoever reads it.
const PIECES_AHEAD: usize = 1;

/// A block that has begun to come.
#[derive(Debug)]
pub(super) struct Coming {
    pub(super) sizes: Sizes,
    /// Bytes of its elements.
    pub(super) bytes: u64,
    /// The elements, in pieces.
    pub(super) pieces: mpsc::Receiver<Result<Bytes, Shared>>,
}

type Answer = Result<Option<Coming>, Shared>;

/// A block that somebody waits for.
#[derive(Debug)]
struct Wish {
    address: String,
    bytes: u64,
    extensions: Extensions,
    tell: oneshot::Sender<Answer>,
}

impl Waiting for Wish {
    fn address(&self) -> &str {
        &self.address
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn is_wanted(&self) -> bool {
        !self.tell.is_canceled()
    }
}

/// Reads the blocks of a level.
#[derive(Debug, Clone)]
pub(super) struct Reads {
    server: Arc<Server>,
    queue: Arc<Queue<Wish>>,
}

impl Reads {
    pub(super) fn new(server: Arc<Server>) -> Self {
        Self { server, queue: Queue::new(REQUESTS_MAX) }
    }

    /// Reads the block at `address`, in the version at `url`; `None` if it is not there.
    pub(super) async fn read(
        &self,
        level: &Arc<Level>,
        url: &str,
        address: String,
        extensions: Extensions,
    ) -> Answer {
        let (tell, told) = oneshot::channel();
        let bytes = level.block.iter().fold(level.item_bytes, |bytes, n| bytes.saturating_mul(*n));
        if let Some(carrier) = self.queue.push(Wish { address, bytes, extensions, tell }) {
            let (server, level) = (Arc::clone(&self.server), Arc::clone(level));
            let carried = carry(carrier, server, level, url.to_owned());
            drop(tokio::spawn(carried)); // it ends by itself, when nobody waits
        }
        told.await.unwrap_or_else(|_| Err(Shared::interrupted("its request was given up")))
    }
}

/// Sends requests as long as something waits.
async fn carry(mut carrier: Carrier<Wish>, server: Arc<Server>, level: Arc<Level>, url: String) {
    loop {
        let wishes = carrier.take();
        let Some(first) = wishes.first() else { return };
        let asked = format!("{url}/{}", path(&wishes));
        let extensions = first.extensions.clone();
        match server.get(&asked, extensions).await {
            Ok(answer) => spread(answer, &level, wishes).await,
            Err(error) => tell_all(wishes.into_iter(), &error),
        }
    }
}

fn tell_all(wishes: impl Iterator<Item = Wish>, error: &Shared) {
    for wish in wishes {
        // Who does not wait any more need not know.
        let _ = wish.tell.send(Err(error.clone()));
    }
}

/// The last thing that is told of a block. That of the last block waits for the end of the answer:
/// one that goes on is none.
#[derive(Debug)]
enum Held {
    Absence(Wish),
    Elements(Option<mpsc::Sender<Result<Bytes, Shared>>>, Bytes),
}

impl Held {
    async fn tell(self, failed: Option<&Shared>) {
        match self {
            Self::Absence(wish) => {
                let _ = wish.tell.send(failed.map_or(Ok(None), |error| Err(error.clone())));
            }
            Self::Elements(Some(mut sender), elements) => {
                let piece = failed.map_or(Ok(elements), |error| Err(error.clone()));
                let _ = sender.send(piece).await;
            }
            Self::Elements(None, _) => {}
        }
    }
}

/// Hands the blocks of an answer to those who wait for them, in their order.
async fn spread(answer: HttpResponse, level: &Level, wishes: Vec<Wish>) {
    let mut wishes = wishes.into_iter();
    let mut spread = Spread { sender: None, held: None };
    let outcome = spread.all(answer, level, &mut wishes).await;
    if let Err(error) = &outcome {
        if let Some(mut sender) = spread.sender.take() {
            let _ = sender.send(Err(error.clone())).await;
        }
        tell_all(wishes, error);
    }
    if let Some(held) = spread.held.take() {
        held.tell(outcome.as_ref().err()).await;
    }
}

struct Spread {
    /// Receiver of the block that has begun; `None`: nobody wants it.
    sender: Option<mpsc::Sender<Result<Bytes, Shared>>>,
    held: Option<Held>,
}

impl Spread {
    async fn all(
        &mut self,
        answer: HttpResponse,
        level: &Level,
        wishes: &mut std::vec::IntoIter<Wish>,
    ) -> Result<(), Shared> {
        let mut reader = AnswerReader::new(level.block, level.item_bytes);
        let mut body = answer.into_body().bytes_stream();
        while let Some(input) = body.next().await {
            let mut input = input?;
            while let Some(piece) = reader.next(&mut input)? {
                self.piece(piece, reader.is_whole(), wishes).await?;
            }
        }
        if !reader.is_between() || wishes.len() > 0 {
            return Err(Shared::interrupted("the answer has ended before its blocks"));
        }
        Ok(())
    }

    async fn piece(
        &mut self,
        piece: Piece,
        is_whole: bool,
        wishes: &mut std::vec::IntoIter<Wish>,
    ) -> Result<(), Shared> {
        match piece {
            Piece::Absent => {
                let wish = wishes.next().ok_or_else(surplus)?;
                self.hold(Held::Absence(wish), wishes).await;
            }
            Piece::Begins(sizes, bytes) => {
                let wish = wishes.next().ok_or_else(surplus)?;
                let (sender, pieces) = mpsc::channel(PIECES_AHEAD);
                let coming = Coming { sizes, bytes, pieces };
                let is_wanted = wish.tell.send(Ok(Some(coming))).is_ok();
                self.sender = Some(sender).filter(|_| is_wanted);
                if is_whole {
                    let sender = self.sender.take();
                    self.hold(Held::Elements(sender, Bytes::new()), wishes).await;
                }
            }
            Piece::Elements(elements) if is_whole => {
                let sender = self.sender.take();
                self.hold(Held::Elements(sender, elements), wishes).await;
            }
            Piece::Elements(elements) => {
                if let Some(sender) = &mut self.sender
                    && sender.send(Ok(elements)).await.is_err()
                {
                    self.sender = None;
                }
            }
        }
        Ok(())
    }

    /// Tells it, unless it is the last of the answer.
    async fn hold(&mut self, held: Held, wishes: &std::vec::IntoIter<Wish>) {
        if wishes.len() > 0 {
            held.tell(None).await;
        } else {
            self.held = Some(held);
        }
    }
}

fn surplus() -> Shared {
    Fault::Answer("it has more blocks than were asked for".to_owned()).into()
}
