//! Reads a journal a piece at a time: what is held of it does not grow with it.

use rechunk_kernel::wide;
use rechunk_store::{End, Store};

use super::contents::JournalContents;
use super::done::DoneSet;
use super::error::JournalError;
use super::line::{self, JOURNAL_VERSION, JournalHeader, Mark};
use super::log::{JOURNAL_KEY, Segments, is_segmented, lines};

/// Bytes of a journal that are read at a time; a longer line is damage.
const PIECE_BYTES: u64 = 1 << 20;
/// Most ranges of tasks, and tasks begun, that are kept in mind. Tasks are begun in order, so that
/// a run leaves as many as it has tasks at once; what comes after more is done again.
const PARTS_MAX: usize = 1 << 16;

/// Lines of the journal that have been read.
#[derive(Debug, Default)]
struct Reader {
    header: Option<JournalHeader>,
    /// The first line was read, whatever it says.
    has_begun: bool,
    done: DoneSet,
    damaged_bytes: u64,
    damaged_lines: u64,
}

/// The journal is of a version that is not known.
struct OtherVersion(u32);

/// Reads the journal in `store`, and how many segments it has; a file has none. If its first line
/// is damaged, `known` is what it says, where that is known.
pub(super) async fn read(
    store: &Store,
    known: Option<&JournalHeader>,
) -> Result<(JournalContents, u64), JournalError> {
    let mut reader = Reader::default();
    let segments = if is_segmented(store) {
        reader.read_segments(store).await?
    } else {
        reader.read_file(store).await?;
        0
    };
    let location = store.label().to_owned();
    let Reader { header, done, damaged_bytes, damaged_lines, .. } = reader;
    let header = header.or_else(|| known.cloned()).ok_or(JournalError::Damaged { location })?;
    Ok((JournalContents { header, done, damaged_bytes, damaged_lines }, segments))
}

impl JournalContents {
    /// Reads the lines of a journal that are kept as one object, `location`. If the first is
    /// damaged, `known` is what it says.
    pub fn of_text(
        text: &[u8],
        known: &JournalHeader,
        location: &str,
    ) -> Result<Self, JournalError> {
        let mut reader = Reader::default();
        let taken = reader.take(text).map_err(|other| other.at(location.to_owned()))?;
        let Reader { header, done, damaged_lines, .. } = reader;
        let header = header.unwrap_or_else(|| known.clone());
        let damaged_bytes = wide(text.len() - taken);
        Ok(Self { header, done, damaged_bytes, damaged_lines })
    }
}

impl Reader {
    async fn read_file(&mut self, store: &Store) -> Result<(), JournalError> {
        let location = || store.label().to_owned();
        let missing = || JournalError::Missing { location: location() };
        let first = store.get_end(JOURNAL_KEY, End::First, PIECE_BYTES).await?;
        let (mut piece, size_bytes) = first.ok_or_else(missing)?;
        // The last line of the pieces before, as far as it has come.
        let mut held: Vec<u8> = Vec::new();
        let (mut at, mut believed_bytes) = (0, 0);
        loop {
            at += wide(piece.len());
            held.extend_from_slice(&piece);
            let whole = held.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
            let taken = self.take(&held[..whole]).map_err(|other| other.at(location()))?;
            believed_bytes += wide(taken);
            held.drain(..whole);
            let is_too_long = wide(held.len()) > PIECE_BYTES;
            if is_too_long || self.is_full() || at >= size_bytes {
                break;
            }
            let length = PIECE_BYTES.min(size_bytes - at);
            piece = store.get_range(JOURNAL_KEY, at, length).await?;
        }
        self.damaged_bytes = size_bytes.saturating_sub(believed_bytes);
        Ok(())
    }

    async fn read_segments(&mut self, store: &Store) -> Result<u64, JournalError> {
        let location = || store.label().to_owned();
        let segments = Segments::read(store, |segment| {
            let lines = if self.is_full() { &[] } else { lines(segment) };
            let taken = self.take(lines).map_err(|other| other.at(location()))?;
            self.damaged_bytes += wide(lines.len() - taken);
            Ok(())
        });
        match segments.await? {
            0 => Err(JournalError::Missing { location: location() }),
            segments => Ok(segments),
        }
    }

    /// Does what lines say, and passes over those that are damaged or torn: each says by itself
    /// what is done. How many bytes are of lines that count. The first line of all is the header.
    fn take(&mut self, bytes: &[u8]) -> Result<usize, OtherVersion> {
        let mut taken_bytes = 0;
        for text in bytes.split_inclusive(|&byte| byte == b'\n') {
            let Some(line) = text.strip_suffix(b"\n") else { break };
            let is_header = !std::mem::replace(&mut self.has_begun, true);
            let is_sound = if is_header { self.begin(line)? } else { self.mark(line) };
            if is_sound {
                taken_bytes += text.len();
            } else {
                self.damaged_lines += 1;
            }
        }
        Ok(taken_bytes)
    }

    fn begin(&mut self, line: &[u8]) -> Result<bool, OtherVersion> {
        let header: Option<JournalHeader> = line::decode(line);
        if let Some(JournalHeader { version, .. }) = &header
            && *version != JOURNAL_VERSION
        {
            return Err(OtherVersion(*version));
        }
        self.header = header;
        Ok(self.header.is_some())
    }

    fn mark(&mut self, line: &[u8]) -> bool {
        let mark = line::decode::<Mark>(line);
        if let Some(mark) = mark {
            self.done.add_mark(mark);
        }
        mark.is_some()
    }

    fn is_full(&self) -> bool {
        self.done.parts() > PARTS_MAX
    }
}

impl OtherVersion {
    fn at(self, location: String) -> JournalError {
        JournalError::Version { location, found: self.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Journal;
    use super::*;
    use proptest::prelude::*;

    fn store(directory: &tempfile::TempDir) -> Store {
        Store::open(directory.path().to_str().unwrap()).unwrap()
    }

    fn header() -> JournalHeader {
        JournalHeader::new("ab", serde_json::Value::Null)
    }

    fn contents(text: &[u8]) -> Result<JournalContents, JournalError> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(JOURNAL_KEY), text).unwrap();
        futures::executor::block_on(Journal::read(&store(&directory)))
    }

    /// A journal of all even tasks, or of one task and its steps, with so many marks.
    fn journal(marks: u64, mark: impl Fn(u64) -> Mark) -> String {
        let mut text = line::encode(&header()).unwrap();
        for number in 0..marks {
            text.push_str(&line::encode(&mark(number)).unwrap());
        }
        text
    }

    #[test]
    fn one_of_many_pieces_is_read_whole() {
        let text = journal(120_000, |number| Mark::task(0, number));
        assert!(wide(text.len()) > 3 * PIECE_BYTES);
        let read = contents(text.as_bytes()).unwrap();
        assert_eq!((read.done.count(0), read.damaged_bytes), (120_000, 0));
        assert_eq!(read.header, header());
    }

    #[test]
    fn a_damaged_line_costs_what_it_marks() {
        let text = journal(120_000, |number| Mark::task(0, number));
        let at = text.len() - text.len() / 3;
        let line_start = text[..at].rfind('\n').unwrap() + 1;
        let line = text[line_start..].lines().next().unwrap();
        let task = wide(text[..line_start].lines().count()) - 1;
        // Any bit of any byte of it, its checksum too.
        for place in 0..line.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[line_start + place] ^= 1 << (place % 5);
            let read = contents(&damaged).unwrap();
            assert!(!read.done.contains(0, task), "byte {place}");
            assert_eq!(read.done.count(0), 119_999, "byte {place}");
            assert_eq!(read.damaged_bytes, wide(line.len()) + 1);
        }
        // Without its end it takes the next one with it.
        let mut damaged = text.clone().into_bytes();
        damaged[line_start + line.len()] ^= 1;
        assert_eq!(contents(&damaged).unwrap().done.count(0), 119_998);
    }

    #[test]
    fn a_damaged_first_line_costs_nothing_where_it_is_known() {
        let text = journal(100, |number| Mark::task(0, number));
        let mut damaged = text.into_bytes();
        damaged[3] ^= 1;
        assert!(matches!(contents(&damaged), Err(JournalError::Damaged { .. })));
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(JOURNAL_KEY), &damaged).unwrap();
        let store = store(&directory);
        let known = header();
        let opened = Journal::open_known(&store, "w", &known);
        let opened = futures::executor::block_on(opened).unwrap();
        assert_eq!((opened.header(), opened.done().count(0)), (&header(), 100));
        // What is opened is whole again.
        let again = futures::executor::block_on(Journal::read(&store)).unwrap();
        assert_eq!((again.header, again.done.count(0), again.damaged_bytes), (header(), 100, 0));
    }

    #[test]
    fn a_line_without_an_end_is_not_held() {
        let sound = journal(1, |number| Mark::task(0, number));
        let long = sound.clone() + &"x".repeat(5 << 20);
        let read = contents(long.as_bytes()).unwrap();
        assert_eq!((read.done.count(0), read.damaged_bytes), (1, 5 << 20));
        let error = contents("x".repeat(5 << 20).as_bytes()).unwrap_err();
        assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
        assert!(matches!(contents(b"").unwrap_err(), JournalError::Damaged { .. }));
    }

    /// Tasks that touch no others are kept one by one: a journal of a gigabyte could name many.
    #[test]
    fn of_scattered_tasks_so_many_are_kept() {
        let text = journal(1 << 19, |number| Mark::task(0, 2 * number));
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(JOURNAL_KEY), &text).unwrap();
        let in_a_piece = usize::try_from(PIECE_BYTES).unwrap() / "{} #01234567\n".len();
        let read = futures::executor::block_on(Journal::read(&store(&directory))).unwrap();
        assert!((PARTS_MAX..PARTS_MAX + in_a_piece).contains(&read.done.parts()));
        assert!(read.damaged_bytes > 0);
        // What is kept is what the journal says from then on.
        let opened = futures::executor::block_on(Journal::open(&store(&directory), "w")).unwrap();
        assert_eq!(*opened.done(), read.done);
        let again = futures::executor::block_on(Journal::read(&store(&directory))).unwrap();
        assert_eq!(again.done, read.done);
    }

    proptest! {
        /// Wherever pieces end, lines are put together again.
        #[test]
        fn a_torn_end_costs_its_line(cut in any::<prop::sample::Index>(), long in 0_usize..3) {
            let name = "n".repeat(long * 400_000);
            let mut text = line::encode(&JournalHeader::new(&name, name.clone().into())).unwrap();
            let start = text.len();
            let mut ends = vec![start];
            for number in 0..100 {
                text.push_str(&line::encode(&Mark::steps(1, number, number + 1)).unwrap());
                ends.push(text.len());
            }
            let cut = start + cut.index(text.len() - start + 1);
            let read = contents(&text.as_bytes()[..cut]).unwrap();
            let whole = ends.iter().filter(|&&end| end <= cut).count() - 1;
            prop_assert_eq!(read.done.parts(), whole);
            prop_assert_eq!(read.damaged_bytes, wide(cut - ends[whole]));
        }
    }
}
