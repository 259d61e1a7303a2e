//! A program that runs: its process group, its pipes, its end.
//!
//! One thread watches a program: it waits for the pipes to have something for [`TICK`] at most, so
//! that a timeout and a cancellation are seen. Nothing is read that `poll` did not announce, so no
//! call blocks, whatever the program does with its ends.

mod limits;
mod tail;

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

pub(crate) use limits::{Clock, Limits, Pace, Stop};
pub(crate) use tail::{Tail, printable};

/// Longest time until a timeout or a cancellation is seen.
const TICK: Duration = Duration::from_millis(20);
/// Time for the processes of a program to end after it.
const GRACE: Duration = Duration::from_secs(2);
/// Time for the system to end a process that is killed.
const KILL_TIME: Duration = Duration::from_secs(5);
/// Time for the rest of a process group to be gone. A zombie that nobody waits for stays in it.
const REST_TIME: Duration = Duration::from_millis(200);
/// Bytes that are read from a pipe at once.
const READ_BYTES: usize = 16 << 10;
/// Bytes that a pipe takes without waiting if `poll` says that it takes any: POSIX's least.
const WRITE_BYTES: usize = 512;
/// Reads of each pipe after the end of a program; a pipe holds 64 KiB.
const DRAIN_READS: usize = 64;

/// End of a program of one task.
#[derive(Debug)]
pub(crate) enum Ending {
    Exited(ExitStatus),
    /// It ended, and a process of its own keeps a pipe open.
    LeftProcess,
}

/// Why a program is no longer watched.
#[derive(Debug)]
pub(crate) enum Interrupted {
    Stopped(Stop),
    System(io::Error),
}

impl From<Stop> for Interrupted {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<io::Error> for Interrupted {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Events while a program was waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard {
    /// Its stdin takes bytes, or is closed.
    pub can_write: bool,
    has_read: bool,
}

/// A program that runs, as leader of a process group of its own. Dropping it kills the group.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pid: Pid,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// End of its stderr.
    pub tail: Tail,
    /// The program has ended.
    is_over: bool,
    /// So has its process group, or it was waited for.
    is_gone: bool,
}

impl Process {
    /// Starts a program. With `has_stdin` it gets a pipe, else nothing to read.
    pub(crate) fn start<S: AsRef<OsStr>>(
        program: &Path,
        arguments: &[String],
        environment: &[(&str, S)],
        has_stdin: bool,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(if has_stdin { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok(Self {
            pid: pid.ok_or_else(|| io::Error::other("it has no process id"))?,
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            tail: Tail::default(),
            is_over: false,
            is_gone: false,
        })
    }

    /// Waits up to `most` for the pipes, and reads once from each that has something. Bytes of
    /// stdout are appended to `heard`.
    pub(crate) fn wait(
        &mut self,
        most: Duration,
        is_writing: bool,
        heard: &mut Vec<u8>,
    ) -> io::Result<Heard> {
        let (mut can_write, mut reads_out, mut reads_err) = (false, false, false);
        {
            let mut polled = Vec::with_capacity(3);
            if let Some(stdin) = self.stdin.as_ref().filter(|_| is_writing) {
                polled.push((PollFd::new(stdin, PollFlags::OUT), &mut can_write));
            }
            if let Some(stdout) = &self.stdout {
                polled.push((PollFd::new(stdout, PollFlags::IN), &mut reads_out));
            }
            if let Some(stderr) = &self.stderr {
                polled.push((PollFd::new(stderr, PollFlags::IN), &mut reads_err));
            }
            let (mut files, answers): (Vec<_>, Vec<_>) = polled.into_iter().unzip();
            let most = Timespec::try_from(most).map_err(|_| Errno::INVAL)?;
            match rustix::event::poll(&mut files, Some(&most)) {
                Ok(_) => {}
                Err(Errno::INTR) => return Ok(Heard { can_write: false, has_read: false }),
                Err(error) => return Err(error.into()),
            }
            for (file, answer) in files.iter().zip(answers) {
                *answer = !file.revents().is_empty();
            }
        }
        let mut buffer = [0; READ_BYTES];
        if reads_out {
            let read = read_once(&mut self.stdout, &mut buffer)?;
            heard.extend_from_slice(&buffer[..read]);
        }
        if reads_err {
            let read = read_once(&mut self.stderr, &mut buffer)?;
            self.tail.push(&buffer[..read]);
        }
        let can_write = can_write || self.stdin.is_none();
        Ok(Heard { can_write, has_read: reads_out || reads_err })
    }

    /// Writes to stdin, which `wait` has announced. Returns the bytes that it took.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write(&bytes[..bytes.len().min(WRITE_BYTES)])
    }

    /// Closes stdin, which tells a program that there are no more tasks.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Returns false if the program closed its stdout.
    pub(crate) fn has_stdout(&self) -> bool {
        self.stdout.is_some()
    }

    /// Returns true if the program has ended. It stays a zombie: no other process gets its number.
    pub(crate) fn has_ended(&self) -> io::Result<bool> {
        if self.is_over {
            return Ok(true);
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(self.pid), options) {
            Ok(status) => Ok(status.is_some()),
            Err(Errno::INTR) => Ok(false),
            Err(Errno::CHILD) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the program has ended and nobody has its pipes, and kills what is left of its
    /// process group.
    pub(crate) fn finish(
        &mut self,
        limits: &Limits<'_>,
        stdout: &mut Tail,
    ) -> Result<Ending, Interrupted> {
        let (mut heard, mut pace, mut grace) = (Vec::new(), Pace::new(), None);
        loop {
            limits.check()?;
            let event = self.wait(pace.next(), false, &mut heard)?;
            stdout.push(&heard);
            heard.clear();
            if event.has_read {
                pace = Pace::new();
            }
            if !self.has_ended()? {
                continue;
            }
            if self.stdout.is_none() && self.stderr.is_none() {
                break;
            }
            if grace.get_or_insert_with(|| Clock::of(GRACE)).is_over() {
                self.kill();
                return Ok(Ending::LeftProcess);
            }
        }
        let status = self.kill();
        status.map(Ending::Exited).ok_or_else(|| io::Error::other("it cannot be ended").into())
    }

    /// Kills the process group and returns how the program ended, if the system does end it.
    pub(crate) fn kill(&mut self) -> Option<ExitStatus> {
        if !self.is_over {
            // That nothing is left of the group is no error.
            let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
            let (clock, mut pace) = (Clock::of(KILL_TIME), Pace::new());
            while !self.has_ended().unwrap_or(true) && !clock.is_over() {
                pace.sleep();
            }
            self.is_over = true;
        }
        let status = self.child.try_wait().ok().flatten();
        // From here on nothing is killed by its number: another group may have got it.
        let (clock, mut pace) = (Clock::of(REST_TIME), Pace::new());
        while !self.is_gone && !clock.is_over() {
            self.is_gone = rustix::process::test_kill_process_group(self.pid).is_err();
            if !self.is_gone {
                pace.sleep();
            }
        }
        self.is_gone = true;
        status
    }

    /// Reads what the pipes still hold, without waiting.
    pub(crate) fn drain(&mut self, stdout: &mut Tail) {
        let mut heard = Vec::new();
        for _ in 0..DRAIN_READS {
            let event = self.wait(Duration::ZERO, false, &mut heard);
            stdout.push(&heard);
            heard.clear();
            if !event.is_ok_and(|event| event.has_read) {
                return;
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads once, and closes a pipe that has ended.
fn read_once(pipe: &mut Option<impl Read>, buffer: &mut [u8]) -> io::Result<usize> {
    let Some(open) = pipe else { return Ok(0) };
    match open.read(buffer) {
        Ok(0) => {
            *pipe = None;
            Ok(0)
        }
        Ok(read) => Ok(read),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(error) => Err(error),
    }
}
