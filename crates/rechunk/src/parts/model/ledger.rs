//! Counts tasks that were really done, one by one: a byte for each, 1 if it is so.

use std::collections::HashMap;

use rechunk_exec::TaskRange;

/// An account of all tasks.
#[derive(Debug)]
pub(super) struct Ledger {
    done: Vec<Vec<u8>>,
    marked: Vec<Vec<u8>>,
    /// Tasks that a journal has marked whose writer is gone.
    journaled: Vec<Vec<u8>>,
    /// Tasks that the journals of workers mark.
    journals: HashMap<u64, Vec<TaskRange>>,
    /// The parts were closed.
    pub is_closed: bool,
    findings: Vec<String>,
    /// Times that a worker left out what a journal of another had marked.
    pub gone_on_with: u64,
}

/// The tasks that were marked, by shares or journals, when a worker looked.
#[derive(Debug)]
pub(super) struct Seen {
    marked: Vec<u8>,
    journaled: Vec<u8>,
}

fn all(tasks: &[u64]) -> Vec<Vec<u8>> {
    tasks.iter().map(|&count| vec![0; at(count)]).collect()
}

fn at(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

fn slice<'a>(of: &'a [Vec<u8>], tasks: &TaskRange) -> &'a [u8] {
    &of[tasks.stage][at(tasks.start)..at(tasks.end)]
}

fn fill(of: &mut [Vec<u8>], tasks: &TaskRange) {
    of[tasks.stage][at(tasks.start)..at(tasks.end)].fill(1);
}

impl Ledger {
    /// Of stages with so many tasks.
    pub(super) fn new(tasks: &[u64]) -> Self {
        Self {
            done: all(tasks),
            marked: all(tasks),
            journaled: all(tasks),
            journals: HashMap::new(),
            is_closed: false,
            findings: Vec::new(),
            gone_on_with: 0,
        }
    }

    pub(super) fn find(&mut self, finding: String) {
        self.findings.push(finding);
    }

    pub(super) fn first(&self) -> Result<(), String> {
        self.findings.first().map_or(Ok(()), |finding| Err(finding.clone()))
    }

    /// Marks of `tasks` before a worker looks.
    pub(super) fn look(&self, tasks: &TaskRange) -> Seen {
        let marked = slice(&self.marked, tasks).to_vec();
        Seen { marked, journaled: slice(&self.journaled, tasks).to_vec() }
    }

    /// A worker does `part` of its share `tasks`, of which it has `seen` what was marked.
    pub(super) fn does(&mut self, part: &TaskRange, tasks: &TaskRange, seen: &Seen) {
        let place = at(part.start - tasks.start)..at(part.end - tasks.start);
        for (by, marked) in [("share", &seen.marked), ("journal", &seen.journaled)] {
            if marked[place.clone()].contains(&1) {
                self.find(format!("{part:?} is done again, some of which a {by} had marked"));
            }
        }
        fill(&mut self.done, part);
    }

    /// A worker finds all of its share done but `left`.
    pub(super) fn leaves_out(&mut self, tasks: &TaskRange, left: &[TaskRange], seen: &Seen) {
        let left: u64 = left.iter().map(TaskRange::len).sum();
        let mut both = seen.journaled.iter().zip(&seen.marked);
        let journaled = seen.journaled.contains(&1) && both.any(|(by, marked)| by > marked);
        self.gone_on_with += u64::from(journaled && left < tasks.len());
    }

    /// The journal of a worker marks tasks.
    pub(super) fn journals(&mut self, client: u64, tasks: Vec<TaskRange>) {
        self.journals.insert(client, tasks);
    }

    /// A worker is gone: others go on with what its journal has marked.
    pub(super) fn is_gone(&mut self, client: u64) {
        for tasks in self.journals.remove(&client).unwrap_or_default() {
            fill(&mut self.journaled, &tasks);
        }
    }

    /// A mark says that `tasks` are done.
    pub(super) fn marks(&mut self, tasks: &TaskRange) {
        self.check_done(tasks);
        fill(&mut self.marked, tasks);
    }

    pub(super) fn check_done(&mut self, tasks: &TaskRange) {
        let done = slice(&self.done, tasks);
        if done.contains(&0) {
            let task = done.iter().position(|&done| done == 0).unwrap_or(0);
            let task = tasks.start + task as u64;
            self.find(format!("{task} of {tasks:?} is not done, and marked"));
        }
    }

    /// A task of a stage that is not marked.
    pub(super) fn unmarked(&self, stage: usize) -> Option<u64> {
        let first = self.marked[stage].iter().position(|&marked| marked == 0)?;
        Some(first as u64)
    }

    /// True if all tasks of a stage are marked.
    pub(super) fn is_marked(&self, stage: usize) -> bool {
        !self.marked[stage].contains(&0)
    }
}
